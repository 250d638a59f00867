/* ThreadX rings for four kinds of targets, with the same events in each. Writes little32.trx, big32.trx,
 * little64.trx and big64.trx into the folder of the first argument. Prints the line of a failed check. */
#include <stdio.h>
#include <string.h>

#include "tracewell.h"

#define CHECK(condition) do { if (!(condition)) { printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); return 1; } } while (0)

static unsigned char memory[2048];
static int wraps;

static void on_wrap(tw_threadx *trace, void *context)
{
    const tw_threadx_context isr = { 0x20000400, 0, 0, TW_INTERRUPT, 0 };

    wraps++;
    *(int *)context = tw_threadx_user_event(trace, &isr, 5000, 1, 2, 3, 4);
}

static int save(const char *folder, const char *name, size_t length)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(memory, 1, length, file) == length && fclose(file) == 0);
    return 0;
}

static int record(const char *folder, const char *name, uint8_t width, uint8_t order)
{
    const tw_clock clock = { NULL, NULL, 0 };
    const tw_threadx_layout layout = { 0x20008000, 40, width, order };
    const tw_threadx_context thread = { 0x20000400, 5, 4, TW_THREAD, 0 };
    const tw_threadx_object objects[] = { { 0x20000400, "a name of more than thirty-one bytes", 0, 0, 5, 1 } };
    /* Header, one registry slot, four events. */
    const size_t size = width == 32 ? 48 + 56 + 4 * 32 : 96 + 72 + 4 * 64;
    tw_threadx trace;
    int said = 99, number;

    wraps = 0;
    CHECK(size <= sizeof memory);
    CHECK(tw_threadx_init_for(&trace, &clock, &layout) == TW_OK);
    CHECK(tw_threadx_buffer_full_notify(&trace, on_wrap, &said) == TW_OK);
    CHECK(tw_threadx_enable(&trace, memory, size, 1, objects, 1, &thread) == TW_OK);
    for (number = 0; number < 2; number++)
        CHECK(tw_threadx_user_event(&trace, &thread, 4096, 0x123456789, 2, 3, 4) == TW_OK);
    CHECK(wraps == 1 && said == TW_OK);
    CHECK(tw_threadx_disable(&trace) == TW_OK);
    return save(folder, name, size);
}

static int errors(void)
{
    const tw_clock clock = { NULL, NULL, 0 };
    const tw_threadx_layout width = { 0, 0, 16, TW_NATIVE }, order = { 0, 0, 32, 9 };
    tw_threadx trace;

    CHECK(tw_threadx_init_for(&trace, &clock, NULL) == TW_NULL);
    CHECK(tw_threadx_init_for(&trace, &clock, &width) == TW_INVALID);
    CHECK(tw_threadx_init_for(&trace, &clock, &order) == TW_INVALID);
    return 0;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    return errors() || record(argv[1], "little32.trx", 32, TW_LITTLE) || record(argv[1], "big32.trx", 32, TW_BIG)
        || record(argv[1], "little64.trx", 64, TW_LITTLE) || record(argv[1], "big64.trx", 64, TW_BIG);
}
