/* Streams: calls every function, and provokes the errors that a C program can cause. Writes streams.log and
 * callback.log into the folder of the first argument. Prints the line of a failed check. */
#include <stdio.h>
#include <string.h>

#include "tracewell.h"
#include "tracewell.h"

#define CHECK(condition) do { if (!(condition)) { printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); return 1; } } while (0)

static ptrdiff_t three_bytes_at_most(void *context, const void *bytes, size_t length)
{
    size_t piece = length < 3 ? length : 3;

    return (ptrdiff_t)fwrite(bytes, 1, piece, (FILE *)context);
}

static ptrdiff_t disk_is_full(void *context, const void *bytes, size_t length)
{
    (void)bytes;
    (void)length;
    return -*(int *)context;
}

static char *within(const char *folder, const char *name)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int errors(void)
{
    static tw_threadx zeros;
    static tw_aix none;
    tw_aix_context task = { 1, 1, 0 };
    tw_stream *stream = NULL;
    tw_event event = { 70, 1 };
    uint64_t field = 1;

    CHECK(tw_threadx_disable(NULL) == TW_NULL);
    CHECK(tw_threadx_disable(&zeros) == TW_NOT_INITIALISED);
    CHECK(tw_threadx_is_on(&zeros) == TW_NOT_INITIALISED);
    CHECK(tw_trchook(&none, &task, 0, 0, 0, 0, 0, 0) == TW_NOT_INITIALISED);
    CHECK(tw_stream_open(NULL, &stream) == TW_NULL && stream == NULL);
    CHECK(tw_stream_open("/nowhere/at/all", &stream) == 2 && stream == NULL);
    CHECK(tw_stream_open("/nowhere/at/all", NULL) == TW_NULL);
    CHECK(tw_stream_from_environment(&stream) == TW_NOTHING && stream == NULL);
    CHECK(tw_record(stream, event, &field, 1) == TW_NULL);
    CHECK(tw_log_close(NULL, NULL) == TW_NULL && tw_flusher_stop(NULL) == TW_NULL);
    tw_stream_close(NULL);
    CHECK(strcmp(tw_message(TW_OK), "done") == 0);
    return 0;
}

static int record_all(tw_stream *stream, tw_event sent, tw_event note)
{
    const double share = 0.5;
    uint64_t fields[3] = { 1500, 0x7F00, 0 };
    uint64_t number = 9;
    const uint64_t many[16] = { 0 };

    memcpy(&fields[2], &share, sizeof share);
    CHECK(tw_record(stream, sent, fields, 3) == TW_OK);
    CHECK(tw_record_with(stream, note, &number, 1, "a text of C", 11) == TW_OK);
    CHECK(tw_record(stream, sent, NULL, 3) == TW_NULL);
    CHECK(tw_record_with(stream, note, many, 16, "", 0) == TW_INVALID);
    return 0;
}

static int define(tw_stream *stream, tw_event *sent, tw_event *note)
{
    tw_event again;

    CHECK(tw_define(stream, 3, "net/sent(length:u64,queue:hex,share:f64)", sent) == TW_OK);
    CHECK(tw_define(stream, 4, "app/note(number:u64,why:text)", note) == TW_OK);
    CHECK(tw_define(stream, 3, "net/sent(length:u64,queue:hex,share:f64)", &again) == TW_OK);
    CHECK(again.id == sent->id && sent->id != note->id);
    CHECK(tw_define(stream, 63, "net/other()", &again) == TW_INVALID);
    CHECK(tw_define(stream, 3, "no type", &again) == TW_INVALID);
    return 0;
}

static int streams(const char *folder)
{
    const tw_stream_options options = { 4, 4, 4096, TW_FLUSH, 0 };
    tw_stream_options wrong = { 0, 0, 7, TW_LOOP, 0 };
    tw_stream *stream, *second;
    tw_stream_status status;
    tw_event sent, note;
    tw_log *log;
    uint64_t events;

    CHECK(tw_stream_create(NULL, &wrong, &stream) == TW_INVALID);
    CHECK(tw_stream_create(within(folder, "stream"), &options, &stream) == TW_OK);
    CHECK(tw_stream_create(within(folder, "stream"), &options, &second) == 17 && second == NULL);
    CHECK(define(stream, &sent, &note) == 0);
    CHECK(record_all(stream, sent, note) == 0); /* suspended: nothing is recorded */
    CHECK(tw_stream_start(stream) == TW_OK);
    CHECK(record_all(stream, sent, note) == 0);
    CHECK(tw_stream_filter_families(stream, 1u << 3) == TW_OK);
    CHECK(record_all(stream, sent, note) == 0); /* only the note is recorded */
    CHECK(tw_stream_filter_event(stream, note.id, 1) == TW_OK);
    CHECK(record_all(stream, sent, note) == 0); /* nothing is recorded */
    CHECK(tw_stream_filter_event(stream, 2048, 1) == TW_INVALID);
    CHECK(tw_log_create(within(folder, "streams.log"), &log) == TW_OK);
    CHECK(tw_log_drain(log, stream, &events) == TW_OK && events == 3);
    CHECK(tw_log_close(log, stream) == TW_OK);
    CHECK(tw_stream_get_status(stream, &status) == TW_OK);
    CHECK(status.running == 1 && status.lost == 0 && status.lanes == 1);
    /* Another handle of the same stream gets the same ids when it defines the types. */
    CHECK(tw_stream_open(within(folder, "stream"), &second) == TW_OK);
    CHECK(tw_stream_filter_families(second, 0) == TW_OK);
    CHECK(define(second, &sent, &note) == 0);
    CHECK(record_all(second, sent, note) == 0);
    CHECK(tw_stream_clear(stream) == TW_OK && tw_stream_stop(stream) == TW_OK);
    tw_stream_close(second);
    tw_stream_close(stream);
    return 0;
}

static int callbacks(const char *folder)
{
    FILE *file = fopen(within(folder, "callback.log"), "wb");
    int full = 28;
    tw_stream *stream;
    tw_stream_status status;
    tw_event sent, note;
    tw_log *log;
    tw_flusher *flusher;

    CHECK(file != NULL && tw_stream_create(NULL, NULL, &stream) == TW_OK);
    CHECK(define(stream, &sent, &note) == 0 && tw_stream_start(stream) == TW_OK);
    CHECK(record_all(stream, sent, note) == 0);
    CHECK(tw_log_to(three_bytes_at_most, file, &log) == TW_OK);
    CHECK(tw_log_drain(log, stream, NULL) == TW_OK && tw_log_close(log, stream) == TW_OK);
    CHECK(fclose(file) == 0);
    CHECK(tw_log_to(disk_is_full, &full, &log) == TW_OK);
    CHECK(tw_log_drain(log, stream, NULL) == 28);
    CHECK(tw_stream_get_status(stream, &status) == TW_OK && status.flush_error == 28);
    CHECK(tw_log_close(log, stream) == 28);
    CHECK(tw_flusher_start(stream, within(folder, "flusher.log"), &flusher) == TW_OK);
    CHECK(record_all(stream, sent, note) == 0);
    tw_stream_close(stream);
    CHECK(tw_flusher_stop(flusher) == TW_OK);
    return 0;
}

static int wraps;

static void on_wrap(tw_threadx *trace, void *context)
{
    if (++wraps == 2)
        *(int *)context = tw_threadx_disable(trace);
}

static int notifications(void)
{
    static unsigned char memory[48 + 48 + 4 * 32];
    const tw_clock clock = { NULL, NULL, 0 };
    const tw_threadx_context context = { 0x1000, 1, 1, TW_THREAD, 0 };
    const tw_threadx_context unknown = { 0x1000, 1, 1, 9, 0 };
    tw_threadx trace;
    int disabled = 99, count;

    CHECK(tw_threadx_init(&trace, &clock) == TW_OK && tw_threadx_is_on(&trace) == 0);
    CHECK(tw_threadx_enable(&trace, memory, 100, 1, NULL, 0, &context) == TW_TOO_SMALL);
    CHECK(tw_threadx_enable(&trace, memory, sizeof memory, 1, NULL, 0, &unknown) == TW_INVALID);
    CHECK(tw_threadx_enable(&trace, memory, sizeof memory, 1, NULL, 1, &context) == TW_NULL);
    CHECK(tw_threadx_enable(&trace, memory, sizeof memory, 1, NULL, 0, &context) == TW_OK);
    CHECK(tw_threadx_buffer_full_notify(&trace, on_wrap, &disabled) == TW_OK);
    for (count = 0; count < 6; count++)
        CHECK(tw_threadx_user_event(&trace, &context, 4096, 0, 0, 0, 0) == TW_OK);
    CHECK(wraps == 2 && disabled == TW_OK && tw_threadx_is_on(&trace) == 0);
    CHECK(tw_threadx_user_event(&trace, &context, 4096, 0, 0, 0, 0) == TW_NOT_DONE);
    return 0;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    return errors() || streams(argv[1]) || callbacks(argv[1]) || notifications();
}
