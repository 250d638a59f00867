/* Measures a lower bound for the time to read a S.Ha.R.K. file: maps the file, sums the differences of the timestamps,
 * and counts the event codes. Prints nanoseconds, records, the sum, and the number of records with code 0x82.
 * Expects records in order of time, and a little-endian machine. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

struct record {
    uint16_t code, par1;
    uint32_t high, low, par2;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv)
{
    static uint64_t counts[256];
    struct stat status;
    int file = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (file < 0 || fstat(file, &status) != 0)
        return 1;
    double start = now();
    const struct record *record =
        mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (record == MAP_FAILED)
        return 1;
    const struct record *end = record + (size_t)status.st_size / sizeof *record;
    uint64_t records = (uint64_t)(end - record), sum = 0;
    uint64_t before = (uint64_t)record->high << 32 | record->low;
    for (; record < end; record++) {
        uint64_t stamp = (uint64_t)record->high << 32 | record->low;
        sum += stamp - before;
        before = stamp;
        counts[record->code & 0xFF]++;
    }
    double spent = now() - start;
    printf("%.0f %llu %llu %llu\n", spent, (unsigned long long)records, (unsigned long long)sum,
           (unsigned long long)counts[0x82]);
    return 0;
}
