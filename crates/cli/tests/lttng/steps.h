/* The tracepoint `tw:step` of `steps.c`, in the form that <lttng/tracepoint.h> expects. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tw

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "steps.h"

#if !defined(STEPS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define STEPS_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(
    tw, step,
    LTTNG_UST_TP_ARGS(int, number, const char *, text, const unsigned char *, bytes),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int, number, number)
        lttng_ust_field_string(text, text)
        lttng_ust_field_float(double, half, number / 2.0)
        lttng_ust_field_sequence(unsigned char, bytes, bytes, unsigned, number % 4)))

#endif

#include <lttng/tracepoint-event.h>
