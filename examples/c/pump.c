/* A program to trace: it controls the level of a tank with a valve. `pump STEPS` runs one step every ten
 * milliseconds. It calls the recorder whether it is traced or not. examples/c/watch.c is its controller. */
#define _POSIX_C_SOURCE 200809L

#include "pump.h"

#include <trace.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

static trace_event_id_t reading_event, alarm_event;

/* One step of the control loop. */
static void step(struct reading *tank, int number)
{
    static const char too_high[] = "level too high";
    int32_t inflow = 40 + (number * 37) % 50;
    tank->millimetres += inflow - tank->valve / 10;
    tank->valve = tank->millimetres > 1000 ? 900 : 300;
    posix_trace_event(reading_event, tank, sizeof *tank);
    if (tank->millimetres > 1050)
        posix_trace_event(alarm_event, too_high, strlen(too_high));
}

int main(int count, char **arguments)
{
    const struct timespec period = {0, 10000000};
    int steps = count > 1 ? atoi(arguments[1]) : 100;
    struct reading tank = {900, 0};
    if (posix_trace_eventid_open(PUMP_READING, &reading_event) != 0
        || posix_trace_eventid_open(PUMP_ALARM, &alarm_event) != 0)
        return 1;
    for (int number = 0; number < steps; number++) {
        nanosleep(&period, NULL);
        step(&tank, number);
    }
    return 0;
}
