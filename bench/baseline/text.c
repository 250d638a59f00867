/* The baseline for text output: one printf of nine fields per event, with a large buffer, to standard output. Expects
 * a 32-bit little-endian dump without gaps between its sections, and a little-endian machine. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
    static char buffer[1 << 16];
    struct stat status;
    int file = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (file < 0 || fstat(file, &status) != 0)
        return 1;
    const uint32_t *words = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (words == MAP_FAILED)
        return 1;
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    const uint32_t *event = words + (words[6] - words[2]) / 4;
    const uint32_t *end = words + (words[7] - words[2]) / 4;
    uint64_t ticks = 0, seq = 0;
    uint32_t before = event[3];
    for (; event < end; event += 8, seq++) {
        ticks += (uint32_t)(event[3] - before);
        before = event[3];
        printf("%llu\t%llu\t0x%08X\t%u\t%u\t0x%08X\t0x%08X\t0x%08X\t0x%08X\n",
               (unsigned long long)seq, (unsigned long long)ticks, event[0], event[1] & 0x3FF,
               event[2] & 0xFFFF, event[4], event[5], event[6], event[7]);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
