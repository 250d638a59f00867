/* The event of the LTTng-UST benchmark: two 32-bit numbers. LTTng includes this file several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tracewell_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./bench_tp.h"

#if !defined(BENCH_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_TP_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(tracewell_bench, pair,
    LTTNG_UST_TP_ARGS(uint32_t, first, uint32_t, second),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(uint32_t, first, first)
        lttng_ust_field_integer(uint32_t, second, second)))

#endif

#include <lttng/tracepoint-event.h>
