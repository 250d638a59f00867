/* Checks every result of the RKH functions and macros, and prints the line number of a failed check. Then records
 * into a small buffer that drops each record that does not fit, and writes the stream to the file in the first
 * argument. */
#include <stdio.h>
#include <string.h>

#include "tracewell.h"

static tw_rkh trace;
static int depth, entered, flushed;

#define TW_RKH_TRACE (&trace)
#define TW_RKH_ENTER_CRITICAL() (depth++, entered++)
#define TW_RKH_EXIT_CRITICAL() (depth--)
#define TW_RKH_FLUSH() (flushed++)
#include "tracewell_rkh.h"
#include "tracewell_rkh.h"

#define REQUIRE(truth) do { if (!(truth)) { fprintf(stderr, "line %d\n", __LINE__); return 1; } } while (0)

static const tw_clock clock_of_events = { NULL, NULL, 0 };
static unsigned char memory[512];
static unsigned char signals[2];

static size_t waiting(void)
{
    tw_rkh_status status = { 0, 0, 0 };

    (void)tw_rkh_get_status(&trace, &status);
    return status.waiting;
}

static int check_answers(void)
{
    static const uint8_t left_out[] = { TW_TE_SM_EXE_ACT };
    static const uint32_t one[] = { 1 };
    tw_rkh_settings settings;
    size_t count;
    uint8_t out[4];

    REQUIRE(tw_rkh_open(&trace) == TW_NOT_INITIALISED);
    REQUIRE(tw_rkh_open(NULL) == TW_NULL);
    REQUIRE(tw_rkh_usual(&settings) == TW_OK);
    settings.signal = 3;
    REQUIRE(tw_rkh_init(&trace, &settings, &clock_of_events, memory, 512, signals, 2) == TW_INVALID);
    settings.signal = 1;
    settings.left_out = left_out;
    settings.left_out_count = 1;
    REQUIRE(tw_rkh_init(&trace, &settings, &clock_of_events, memory, 512, signals, 2) == TW_OK);
    REQUIRE(tw_rkh_open(&trace) == TW_OK);

    REQUIRE(tw_rkh_begin(&trace, TW_TE_FWK_EN, TW_RKH_NO_OBJECT, TW_RKH_NO_SIGNAL) == TW_EXCLUDED);
    REQUIRE(tw_rkh_arg(&trace, 1) == TW_NOTHING && tw_rkh_end(&trace) == TW_NOTHING);
    REQUIRE(tw_rkh_begin(&trace, 0x1F, TW_RKH_NO_OBJECT, TW_RKH_NO_SIGNAL) == TW_INVALID);
    REQUIRE(tw_rkh_begin(&trace, TW_TE_SM_EXE_ACT, 1, TW_RKH_NO_SIGNAL) == TW_OFF);
    REQUIRE(tw_rkh_assertion(&trace, "main", 7) == TW_EXCLUDED);
    REQUIRE(tw_rkh_filter_event(&trace, 0x1F, TW_RKH_FILTER_OFF) == TW_INVALID);
    REQUIRE(tw_rkh_filter_event(&trace, TW_RKH_ALL, 2) == TW_INVALID);
    REQUIRE(tw_rkh_filter_object(&trace, 64, TW_RKH_FILTER_OFF) == TW_INVALID);
    REQUIRE(tw_rkh_filter_signal(&trace, 16, TW_RKH_FILTER_OFF) == TW_INVALID);
    TW_FILTER_OFF_EVENT(TW_RKH_ALL);

    /* First the filter of object 1 suppresses a record, then the filter of signal 2. At the end, no filter is on. */
    REQUIRE(tw_rkh_record(&trace, TW_TE_SM_EVT_PROC, 1, TW_RKH_NO_SIGNAL, one, 1) == TW_EXCLUDED);
    TW_FILTER_OFF_SMA(1);
    REQUIRE(tw_rkh_record(&trace, TW_TE_SM_EVT_PROC, 1, TW_RKH_NO_SIGNAL, one, 1) == TW_OK);
    REQUIRE(tw_rkh_begin(&trace, TW_TE_SM_EVT_NFOUND, 1, 2) == TW_EXCLUDED);
    TW_FILTER_OFF_SIGNAL(2);
    REQUIRE(tw_rkh_begin(&trace, TW_TE_SM_EVT_NFOUND, 1, 2) == TW_OK);
    REQUIRE(tw_rkh_arg(&trace, 1) == TW_OK && tw_rkh_arg(&trace, 2) == TW_OK);
    REQUIRE(tw_rkh_end(&trace) == TW_OK);
    REQUIRE(tw_rkh_record(&trace, TW_TE_SM_TRN, 1, TW_RKH_NO_SIGNAL, one, 1) == TW_INVALID);
    REQUIRE(tw_rkh_begin(&trace, TW_TE_SM_TRN, 1, TW_RKH_NO_SIGNAL) == TW_OK);
    REQUIRE(tw_rkh_end(&trace) == TW_INVALID);
    REQUIRE(tw_rkh_symbol(&trace, 11, 0, 0, "x") == TW_INVALID);
    REQUIRE(tw_rkh_symbol(&trace, TW_RKH_SIGNAL, 0, 2, NULL) == TW_OK);

    while (tw_rkh_read(&trace, out, sizeof out, &count) == TW_OK)
        REQUIRE(count > 0 && count <= sizeof out);
    REQUIRE(waiting() == 0 && tw_rkh_get_block(&trace, 9, NULL) == TW_NOTHING);
    return 0;
}

static int check_macros(void)
{
    static const uint8_t bytes[] = { 1, 0x7E, 3 };
    size_t before = waiting();

    TW_TRC_USR_BEGIN(31)
        TW_TUSR_I8(3, -1);
        TW_TUSR_UI8(0, 1);
        TW_TUSR_I16(0, -1);
        TW_TUSR_UI16(0, 1);
        TW_TUSR_I32(0, -1);
        TW_TUSR_UI32(0, 1);
        TW_TUSR_X32(8, 0xBEEF);
        TW_TUSR_STR("text");
        TW_TUSR_MEM(bytes, sizeof bytes);
        TW_TUSR_OBJ(&trace);
        TW_TUSR_FUN(check_macros);
        TW_TUSR_SIG(2);
    TW_TRC_USR_END();
    /* Header and checksum, flag, items, and escapes. */
    REQUIRE(waiting() - before >= 7 + 1 + 2 + 2 + 3 + 3 + 5 + 5 + 5 + 6 + 5 + 5 + 5 + 2 + 1);
    REQUIRE(entered == 1 && depth == 0 && flushed == 0);
    TW_TRC_BEGIN(TW_TE_MP_GET)
        TW_TRC_SYM(memory);
        TW_TRC_NBLK(3);
        TW_TRC_NBLK(1);
    TW_TRC_END();
    TW_TR_FWK_SIG(2);
    TW_TR_FWK_ASSERT("rkh", __LINE__);
    REQUIRE(entered == 3 && depth == 0 && flushed == 2);
    return 0;
}

static int write_whole_records(const char *path)
{
    static unsigned char small[130];
    static const uint32_t one[] = { 1 };
    tw_rkh_settings settings;
    tw_rkh_status status;
    tw_rkh_block block;
    FILE *file = fopen(path, "wb");
    unsigned dropped = 0, index;

    REQUIRE(file != NULL && tw_rkh_usual(&settings) == TW_OK);
    settings.whole_records = 1;
    settings.filters = 0;
    settings.stamp = 0;
    REQUIRE(tw_rkh_init(&trace, &settings, &clock_of_events, small, sizeof small, NULL, 0) == TW_OK);
    REQUIRE(tw_rkh_open(&trace) == TW_OK);
    REQUIRE(tw_rkh_record(&trace, TW_TE_FWK_EN, -1, -1, NULL, 0) == TW_OK);
    for (index = 0; index < 20; index++)
        dropped += tw_rkh_record(&trace, TW_TE_SM_EVT_PROC, 1, -1, one, 1) == TW_MISSED;
    REQUIRE(tw_rkh_get_status(&trace, &status) == TW_OK);
    REQUIRE(dropped > 0 && status.dropped == dropped && status.overwritten == 0);
    while (tw_rkh_get_block(&trace, 7, &block) == TW_OK)
        fwrite(block.bytes, 1, block.length, file);
    REQUIRE(tw_rkh_record(&trace, TW_TE_FWK_EX, -1, -1, NULL, 0) == TW_OK);
    while (tw_rkh_get_block(&trace, 7, &block) == TW_OK)
        fwrite(block.bytes, 1, block.length, file);
    return fclose(file);
}

int main(int argc, char **argv)
{
    return argc != 2 || check_answers() || check_macros() || write_whole_records(argv[1]);
}
