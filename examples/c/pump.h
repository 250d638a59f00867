/* The pump's events: names and data. */
#ifndef PUMP_H
#define PUMP_H

#include <stdint.h>

#define PUMP_READING "pump/reading" /* data: struct reading */
#define PUMP_ALARM "pump/alarm"     /* data: a string */

struct reading {
    int32_t millimetres;
    int32_t valve; /* per mille open */
};

#endif
