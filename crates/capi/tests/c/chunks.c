/* S.Ha.R.K. chunks: calls every function, and provokes the errors that a C program can cause. Writes 0run.dat,
 * 1run.dat, 2run.dat, packed.chunk and datagrams.udpcap into the folder in argument 1, and sends chunk b to the
 * UDP address in argument 2. Prints the line of a failed check. */
#include <stdio.h>
#include <string.h>

#include "tracewell.h"

#define CHECK(condition) do { if (!(condition)) { printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); return 1; } } while (0)

enum { TRACE_START = 0x20, IPOINT = 0x01, USER_0 = 0x09, USER_1 = 0x19, TIMER_POST = 0x0B, NEXT_CHUNK = 0xFF };
enum { TIMER = 0x0B };

static unsigned char memory_a[48 + 64 + 32], memory_b[48 + 160], memory_c[48 + 64], small[256];
static tw_shark trace;
static uint64_t cycles;

static uint64_t read_cycles(void *context)
{
    return *(uint64_t *)context += 10;
}

static char *within(const char *folder, const char *name)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int errors(void)
{
    static tw_shark zeros;
    const tw_clock clock = { read_cycles, &cycles, 0 };
    const tw_shark_areas areas = { 64, 32, 0 }, none = { 16, 0, 0 };
    tw_shark_sender *sender;
    uint8_t number;

    CHECK(tw_shark_enable(NULL) == TW_NULL && tw_shark_enable(&zeros) == TW_NOT_INITIALISED);
    CHECK(tw_shark_log(&zeros, USER_0, 0, 0) == TW_NOT_INITIALISED);
    CHECK(tw_shark_init(&trace, NULL) == TW_NULL && tw_shark_init(&trace, &clock) == TW_OK);
    CHECK(tw_shark_enable(&trace) == TW_NOTHING && tw_shark_chunk_select(&trace, 7) == TW_NOTHING);
    CHECK(tw_shark_get_first_chunk(&trace, TW_FREE, &number) == TW_NOTHING);
    CHECK(tw_shark_chunk_create(&trace, memory_a, sizeof memory_a, &none, 0, NULL) == TW_INVALID);
    CHECK(tw_shark_chunk_create(&trace, memory_a, sizeof memory_a, &areas, TW_JTN | TW_STOP, NULL) == TW_INVALID);
    CHECK(tw_shark_chunk_create(&trace, memory_a, 100, &areas, 0, NULL) == TW_TOO_SMALL);
    CHECK(tw_shark_chunk_create(&trace, NULL, 144, &areas, 0, NULL) == TW_NULL);
    CHECK(tw_shark_disk_writer("/nowhere/at/all", &sender) == 2 && sender == NULL);
    CHECK(tw_shark_disk_writer(NULL, &sender) == TW_NULL && sender == NULL);
    CHECK(tw_shark_udp_sender("no address", "127.0.0.1:9", 0, &sender) != TW_OK && sender == NULL);
    CHECK(tw_shark_datagrams(NULL, NULL, &sender) == TW_NULL && sender == NULL);
    CHECK(tw_shark_end_send(&trace, NULL, 1, 0) == TW_NULL);
    CHECK(tw_shark_send(NULL, NULL) == TW_NULL);
    tw_shark_sender_close(NULL);
    return 0;
}

/* Chunk a jumps to b, b jumps to c, and c wraps. */
static int make_chunks(void)
{
    const tw_shark_areas a = { 64, 32, 0 }, b = { 160, 0, 0 }, c = { 64, 0, 0x20000000 };
    uint8_t number, flags;
    int16_t before;

    CHECK(tw_shark_chunk_create(&trace, memory_a, sizeof memory_a, &a, TW_FREE | TW_JTN, &number) == TW_OK && number == 0);
    CHECK(tw_shark_chunk_create(&trace, memory_b, sizeof memory_b, &b, TW_FREE | TW_JTN, &number) == TW_OK && number == 1);
    CHECK(tw_shark_chunk_create(&trace, memory_c, sizeof memory_c, &c, TW_FREE | TW_CYC | TW_NODEL, &number) == TW_OK && number == 2);
    CHECK(tw_shark_get_first_chunk(&trace, TW_CYC, &number) == TW_OK && number == 2);
    CHECK(tw_shark_chunk_link(&trace, 0, 1, &before) == TW_OK && before == TW_NO_CHUNK);
    CHECK(tw_shark_chunk_link(&trace, 1, 2, NULL) == TW_OK);
    CHECK(tw_shark_chunk_link(&trace, 2, 1, NULL) == TW_NOT_FREE);
    CHECK(tw_shark_get_chunk_flags(&trace, 1, &flags) == TW_OK && flags == TW_JTN);
    CHECK(tw_shark_chunk_select(&trace, 0) == TW_OK);
    CHECK(tw_shark_chunk_delete(&trace, 0, NULL) == TW_IN_USE && tw_shark_chunk_delete(&trace, 1, NULL) == TW_IN_USE);
    return 0;
}

static int record_all(void)
{
    uint32_t number;

    CHECK(tw_shark_log(&trace, USER_0, 1, 2) == TW_OFF);
    CHECK(tw_shark_set_filter(&trace, TIMER, 1) == TW_OK);
    CHECK(tw_shark_enable(&trace) == TW_OK);
    CHECK(tw_shark_log(&trace, TRACE_START, 0x100, 1000) == TW_OK);
    CHECK(tw_shark_log(&trace, TIMER_POST, 0, 0) == TW_EXCLUDED);
    CHECK(tw_shark_log_fast(&trace, TIMER_POST, 5, 0) == TW_OK);
    CHECK(tw_shark_set_filter(&trace, TIMER, 0) == TW_OK);
    CHECK(tw_shark_set_filter(&trace, 15, 1) == TW_INVALID);
    CHECK(tw_shark_log(&trace, 0, 0, 0) == TW_INVALID && tw_shark_log_fast(&trace, NEXT_CHUNK, 0, 0) == TW_INVALID);
    for (number = 0; number < 3; number++) /* the second event is recorded into b */
        CHECK(tw_shark_log(&trace, USER_0, (uint16_t)number, number * number) == TW_OK);
    CHECK(tw_shark_next_chunk(&trace) == TW_OK); /* continues in c, which keeps the last four events */
    for (number = 0; number < 6; number++)
        CHECK(tw_shark_log(&trace, USER_1, (uint16_t)number, 0) == TW_OK);
    CHECK(tw_shark_log(&trace, NEXT_CHUNK, 0, 0) == TW_NOTHING);
    CHECK(tw_shark_disable(&trace) == TW_OK);
    return 0;
}

static int status(void)
{
    tw_shark_status found;
    tw_shark_chunk table[2];
    size_t count;

    CHECK(tw_shark_get_status(&trace, &found) == TW_OK);
    CHECK(found.on == 0 && found.current == 2 && found.hidden == 0);
    CHECK(found.disabled == 1 && found.filtered == 1 && found.refused == 2 && found.no_successor == 1);
    CHECK(found.overwritten == 2 && found.full == 0 && found.busy == 0 && found.no_chunk == 0);
    CHECK(tw_shark_get_chunk_table(&trace, NULL, 0, &count) == TW_OK && count == 3);
    CHECK(tw_shark_get_chunk_table(&trace, NULL, 2, &count) == TW_NULL);
    CHECK(tw_shark_get_chunk_table(&trace, table, 2, NULL) == TW_OK);
    CHECK(table[0].number == 0 && table[0].normal == 64 && table[0].emergency == 32 && table[0].kept == 0);
    CHECK(table[0].flags == (TW_FULL | TW_JTN) && table[0].next == TW_NO_CHUNK && table[0].current == 0);
    CHECK(table[1].position == 32 && table[1].laps == 0);
    return 0;
}

static int no_room(void *context, const void *bytes, size_t length)
{
    (void)bytes;
    (void)length;
    return *(int *)context;
}

static int capture(void *context, const void *bytes, size_t length)
{
    const unsigned char head[4] = { (unsigned char)length, (unsigned char)(length >> 8), 0, 0 };
    FILE *file = context;

    return fwrite(head, 1, 4, file) == 4 && fwrite(bytes, 1, length, file) == length ? 0 : 5;
}

static int send_to_caller(const char *folder)
{
    int full = 28;
    FILE *file = fopen(within(folder, "datagrams.udpcap"), "wb");
    tw_shark_sender *sender;
    tw_shark_dump *dump;
    uint8_t flags;

    CHECK(file != NULL && tw_shark_datagrams(no_room, &full, &sender) == TW_OK);
    CHECK(tw_shark_send_chunk(&trace, 1, TW_JTN, sender) == 28);
    tw_shark_sender_close(sender);
    CHECK(tw_shark_datagrams(capture, file, &sender) == TW_OK);
    CHECK(tw_shark_begin_send(&trace, 1, &dump) == TW_OK);
    CHECK(tw_shark_get_chunk_flags(&trace, 1, &flags) == TW_OK && (flags & TW_BUSY) != 0);
    CHECK(tw_shark_set_chunk_flags(&trace, 1, TW_JTN) == TW_IN_USE);
    CHECK(tw_shark_send(sender, dump) == TW_OK);
    CHECK(tw_shark_end_send(&trace, dump, 1, TW_JTN | TW_STOP) == TW_INVALID); /* the chunk is returned nevertheless */
    CHECK(tw_shark_get_chunk_flags(&trace, 1, &flags) == TW_OK && flags == (TW_FULL | TW_JTN));
    tw_shark_sender_close(sender);
    CHECK(fclose(file) == 0);
    return 0;
}

static int compress(const char *folder)
{
    size_t size, length;
    const void *image;
    void *before;
    uint8_t flags;
    FILE *file;

    CHECK(tw_shark_compressed_size(&trace, 1, &size) == TW_OK && size <= sizeof small);
    CHECK(tw_shark_compressed_size(&trace, 2, &size) == TW_IN_USE);
    CHECK(tw_shark_compress_chunk(&trace, 1, TW_JTN, small, 60, &before) == TW_TOO_SMALL);
    CHECK(tw_shark_compress_chunk(&trace, 1, TW_JTN, small, sizeof small, &before) == TW_OK);
    CHECK(before == memory_b);
    CHECK(tw_shark_get_chunk_flags(&trace, 1, &flags) == TW_OK && (flags & TW_COMPR) != 0);
    CHECK(tw_shark_chunk_select(&trace, 1) == TW_NOT_FREE);
    CHECK(tw_shark_image(&trace, 1, &image, &length) == TW_OK);
    file = fopen(within(folder, "packed.chunk"), "wb");
    CHECK(file != NULL && fwrite(image, 1, length, file) == length && fclose(file) == 0);
    return 0;
}

static int send_all(const char *folder, const char *target)
{
    tw_shark_sender *disk, *udp;
    uint8_t chunk, flags;
    void *memory;

    CHECK(tw_shark_udp_sender("127.0.0.1:0", target, 0, &udp) == TW_OK);
    CHECK(tw_shark_send_chunk(&trace, 1, TW_JTN, udp) == TW_OK);
    tw_shark_sender_close(udp);
    CHECK(tw_shark_disk_writer(within(folder, "run.dat"), &disk) == TW_OK);
    CHECK(tw_shark_send_chunk(&trace, 9, TW_FREE, disk) == TW_NOTHING);
    for (chunk = 0; chunk < 3; chunk++)
        CHECK(tw_shark_send_chunk(&trace, chunk, TW_FREE | TW_NODEL, disk) == TW_OK);
    tw_shark_sender_close(disk);
    CHECK(tw_shark_get_chunk_flags(&trace, 1, &flags) == TW_OK && flags == (TW_FREE | TW_NODEL));
    CHECK(tw_shark_chunk_delete(&trace, 1, &memory) == TW_OK && memory == NULL);
    CHECK(tw_shark_set_chunk_flags(&trace, 1, TW_FREE) == TW_OK);
    CHECK(tw_shark_chunk_delete(&trace, 1, &memory) == TW_OK && memory == small);
    return 0;
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    return errors() || make_chunks() || record_all() || status() || send_to_caller(argv[1]) || compress(argv[1])
        || send_all(argv[1], argv[2]);
}
