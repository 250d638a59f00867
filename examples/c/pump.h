/* What the pump says of itself: names of events, and their data. */
#ifndef PUMP_H
#define PUMP_H

#include <stdint.h>

#define PUMP_READING "pump/reading" /* data: struct reading */
#define PUMP_ALARM "pump/alarm"     /* data: a text */

struct reading {
    int32_t millimetres;
    int32_t valve; /* per mille open */
};

#endif
