/* A device that records three dialects: its kernel records ThreadX events, its driver records AIX hooks, and
 * its control loop logs into a S.Ha.R.K. chunk.
 *
 *     cargo build -p tracewell-capi
 *     cc -Icrates/capi/include examples/c/firmware.c target/debug/libtracewell_capi.a -lpthread -ldl -lm -o firmware
 *     ./firmware FOLDER          # writes firmware.trx, firmware.twx, firmware.chunk
 *
 * The device (all code before main) has static memory, a cycle counter and no operating system. The functions
 * that it calls do not allocate, wait, lock or make system calls. main simulates a debugger that halts the
 * device from time to time and saves memory.
 */
#include <stdio.h>
#include <string.h>

#include "tracewell.h"

#define REQUIRE(call) do { int code_ = (call); if (code_ != TW_OK) return code_; } while (0)

/* ---- the device ---- */

enum { TX_CLASS_INTERNAL = 1, THREAD_RESUME = 1, USER_SAMPLE = 4096 };
enum { TRACE_START = 0x20, IPOINT = 0x01, TRACE_STOP = 0x30 }; /* codes of S.Ha.R.K. */
enum { CONTROL = 0x20000400, SENSOR = 0x20000600 };

static unsigned char ring[2048];
static unsigned char buffers[4096];
static unsigned char chunk[48 + 256 + 64];
static tw_threadx kernel;
static tw_aix driver;
static tw_shark loop;
static uint64_t cycles;

/* On a Cortex-M: *(volatile uint32_t *)0xE0001004. */
static uint64_t read_cycles(void *context)
{
    (void)context;
    return cycles += 100;
}

static const tw_clock clock_of_device = { read_cycles, NULL, 0 };
static const tw_threadx_context control = { CONTROL, 5, 5, TW_THREAD, 0 };
static const tw_threadx_context sensor = { SENSOR, 8, 8, TW_THREAD, 0 };
static const tw_threadx_context interrupted = { SENSOR, 0, 0, TW_INTERRUPT, 0 };
static const tw_aix_context task = { 70001, 4242, 0 };

static int loop_start(void)
{
    static const tw_shark_areas areas = { 256, 64, 0x20004000 };
    uint8_t number;

    REQUIRE(tw_shark_init(&loop, &clock_of_device));
    REQUIRE(tw_shark_chunk_create(&loop, chunk, sizeof chunk, &areas, TW_FREE | TW_STOP, &number));
    REQUIRE(tw_shark_chunk_select(&loop, number));
    REQUIRE(tw_shark_enable(&loop));
    return tw_shark_log(&loop, TRACE_START, 0x100, 100000); /* context, cycles per millisecond */
}

static int device_start(void)
{
    static const tw_threadx_object threads[] = {
        { CONTROL, "control", 0x20001000, 0x400, 5, 1 },
        { SENSOR, "sensor", 0x20001400, 0x400, 8, 1 },
    };
    static const tw_aix_machine machine = { 10, 1, "device", "node", "0001", NULL, 1, 1, 32 };
    static const tw_aix_options options = { 0, 0, "firmware", NULL, 0, 0, TW_ALTERNATE, 0, 0, 0, 0 };

    REQUIRE(tw_threadx_init(&kernel, &clock_of_device));
    REQUIRE(tw_threadx_enable(&kernel, ring, sizeof ring, 8, threads, 2, &sensor));
    REQUIRE(tw_aix_init(&driver, &clock_of_device, &machine));
    REQUIRE(tw_trcstart(&driver, &task, buffers, sizeof buffers, &options, NULL));
    return loop_start();
}

static int device_interrupt(uint32_t number)
{
    const tw_threadx_isr isr = { number, 0x2000FF00, 1, 0 };
    const uint64_t resume[4] = { CONTROL, 5, 0x2000FF00, SENSOR };
    tw_threadx_entry entry;

    REQUIRE(tw_threadx_isr_enter(&kernel, &interrupted, &isr));
    REQUIRE(tw_threadx_insert(&kernel, &interrupted, THREAD_RESUME, resume, TX_CLASS_INTERNAL, &entry));
    /* The kernel determines the next thread after it has recorded the event. */
    REQUIRE(tw_threadx_patch(&kernel, &entry, 4, CONTROL));
    return tw_threadx_isr_exit(&kernel, &interrupted, &isr);
}

static int device_sample(uint32_t number)
{
    static const char note[] = "sampled";

    REQUIRE(tw_threadx_user_event(&kernel, &control, USER_SAMPLE, number, number * number, 0, 0));
    /* Hook 010 with five words, hook 011 with text. */
    REQUIRE(tw_trchook(&driver, &task, 0x010E0000, number, number * number, 3, 4, 5));
    REQUIRE(tw_trcgent(&driver, &task, 0, 0x01100000, number, sizeof note - 1, note));
    return tw_shark_log(&loop, IPOINT, (uint16_t)number, number * number);
}

static int device_stop(void)
{
    REQUIRE(tw_shark_log(&loop, TRACE_STOP, 0x100, 0));
    REQUIRE(tw_shark_disable(&loop));
    REQUIRE(tw_trcstop(&driver, &task, 0));
    return tw_threadx_disable(&kernel);
}

/* ---- the debugger ---- */

static int save_hooks(FILE *log)
{
    unsigned char header[1024];
    tw_aix_chunk frames;
    size_t length;

    REQUIRE(tw_aix_header(&driver, 0, header, sizeof header, &length));
    if (fwrite(header, 1, length, log) != length)
        return TW_INVALID;
    while (tw_aix_waiting(&driver, 0, &frames) == TW_OK) {
        if (fwrite(frames.bytes, 1, frames.length, log) != frames.length)
            return TW_INVALID;
        REQUIRE(tw_aix_drained(&driver, 0));
    }
    return tw_aix_finish(&driver, 0);
}

static int run_device(void)
{
    uint32_t number;

    REQUIRE(device_start());
    for (number = 0; number < 3; number++) {
        REQUIRE(device_interrupt(number));
        REQUIRE(device_sample(number));
    }
    return device_stop();
}

static FILE *create(const char *folder, const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return fopen(path, "wb");
}

static int save(const char *folder, const char *name, const void *bytes, size_t length)
{
    FILE *file = create(folder, name);
    size_t written;

    if (file == NULL)
        return TW_INVALID;
    written = fwrite(bytes, 1, length, file);
    return fclose(file) == 0 && written == length ? TW_OK : TW_INVALID;
}

static int save_device(const char *folder)
{
    FILE *log;
    int code;

    REQUIRE(save(folder, "firmware.trx", ring, sizeof ring));
    REQUIRE(save(folder, "firmware.chunk", chunk, sizeof chunk));
    log = create(folder, "firmware.twx");
    if (log == NULL)
        return TW_INVALID;
    code = save_hooks(log);
    return fclose(log) == 0 ? code : TW_INVALID;
}

int main(int argc, char **argv)
{
    int code;

    if (argc != 2) {
        fprintf(stderr, "usage: firmware FOLDER\n");
        return 2;
    }
    code = run_device();
    if (code == TW_OK)
        code = save_device(argv[1]);
    if (code != TW_OK)
        fprintf(stderr, "firmware: %s\n", tw_message(code));
    return code == TW_OK ? 0 : 1;
}
