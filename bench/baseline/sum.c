/* Measures a lower bound for the time to read a dump: maps the file, sums the differences of the timestamps, and counts
 * the event ids. Prints nanoseconds, events, the sum, and the number of events with id 83. Expects a 32-bit
 * little-endian dump without gaps between its sections, and a little-endian machine. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv)
{
    static uint64_t counts[65536];
    struct stat status;
    int file = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (file < 0 || fstat(file, &status) != 0)
        return 1;
    double start = now();
    const uint32_t *words = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (words == MAP_FAILED)
        return 1;
    const uint32_t *event = words + (words[6] - words[2]) / 4;
    const uint32_t *end = words + (words[7] - words[2]) / 4;
    uint64_t events = (uint64_t)(end - event) / 8, sum = 0;
    uint32_t before = event[3];
    for (; event < end; event += 8) {
        sum += (uint32_t)(event[3] - before);
        before = event[3];
        counts[event[2] & 0xFFFF]++;
    }
    double spent = now() - start;
    printf("%.0f %llu %llu %llu\n", spent, (unsigned long long)events, (unsigned long long)sum,
           (unsigned long long)counts[83]);
    return 0;
}
