/* A trace controller. `watch PID` prints the events of a running process until it ends; `watch LOG PROGRAM
 * ARGUMENTS...` runs a program, writes its events to a log, and prints the log. */
#define _POSIX_C_SOURCE 200809L

#include "pump.h"

#include <trace.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(int error, const char *what)
{
    if (error == 0)
        return;
    fprintf(stderr, "watch: %s: %s\n", what, strerror(error));
    exit(1);
}

static void print_data(const char *name, const void *data, size_t length)
{
    struct reading reading;
    if (strcmp(name, PUMP_READING) == 0 && length == sizeof reading) {
        memcpy(&reading, data, sizeof reading);
        printf("level %d mm, valve %d", (int)reading.millimetres, (int)reading.valve);
    } else if (strcmp(name, PUMP_ALARM) == 0) {
        printf("%.*s", (int)length, (const char *)data);
    } else {
        printf("%zu bytes", length);
    }
}

/* Prints events up to the end of a log, or until the process has ended. */
static void print_events(trace_id_t stream)
{
    struct posix_trace_event_info info;
    char name[TRACE_EVENT_NAME_MAX + 1], data[4096];
    size_t length;
    int unavailable;
    for (;;) {
        int error = posix_trace_getnext_event(stream, &info, data, sizeof data, &length, &unavailable);
        check(error, "reading");
        if (unavailable)
            return;
        check(posix_trace_eventid_get_name(stream, info.posix_event_id, name), "the name of an event");
        printf("%lld.%06ld %d %s: ", (long long)info.posix_timestamp.tv_sec,
               info.posix_timestamp.tv_nsec / 1000, (int)info.posix_pid, name);
        print_data(name, data, length);
        putchar('\n');
    }
}

/* Reports lost events. */
static void print_losses(trace_id_t stream)
{
    struct posix_trace_status_info status;
    check(posix_trace_get_status(stream, &status), "the status");
    if (status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN
        || status.posix_log_overrun_status == POSIX_TRACE_OVERRUN)
        puts("events were lost");
}

/* Prints the events of a running process. */
static void watch(pid_t pid)
{
    trace_id_t stream;
    check(posix_trace_create(pid, NULL, &stream), "tracing the process");
    check(posix_trace_start(stream), "starting");
    print_events(stream);
    print_losses(stream);
    check(posix_trace_shutdown(stream), "the end");
}

/* Starts a child that executes the program when the pipe is closed. */
static pid_t prepare(char **program, int *hold)
{
    int ends[2];
    char nothing;
    if (pipe(ends) != 0)
        check(errno, "a pipe");
    pid_t child = fork();
    if (child < 0)
        check(errno, "a process");
    if (child > 0) {
        close(ends[0]);
        *hold = ends[1];
        return child;
    }
    close(ends[1]);
    while (read(ends[0], &nothing, 1) > 0)
        continue;
    execvp(program[0], program);
    perror(program[0]);
    _exit(127);
}

/* Traces a program from its first event. */
static void record(const char *path, char **program)
{
    trace_id_t stream;
    trace_attr_t attr;
    int hold, file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (file < 0)
        check(errno, path);
    pid_t child = prepare(program, &hold);
    check(posix_trace_attr_init(&attr), "attributes");
    check(posix_trace_attr_setname(&attr, program[0]), "the name of the stream");
    check(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), "the policy of the log");
    check(posix_trace_create_withlog(child, &attr, file, &stream), "tracing the program");
    check(posix_trace_start(stream), "starting");
    close(hold);
    waitpid(child, NULL, 0);
    check(posix_trace_shutdown(stream), "the log");
    check(posix_trace_open(file, &stream), "opening the log");
    print_events(stream);
    print_losses(stream);
    check(posix_trace_close(stream), "closing the log");
}

int main(int count, char **arguments)
{
    if (count == 2 && atoi(arguments[1]) > 0)
        watch(atoi(arguments[1]));
    else if (count > 2)
        record(arguments[1], arguments + 2);
    else
        fprintf(stderr, "usage: watch PID\n       watch LOG PROGRAM ARGUMENTS...\n");
    return count < 2;
}
