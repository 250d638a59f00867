/*
 * Functions that encode numbers, compute the checksum, and copy bytes. Only tracewell_target.c includes
 * this file.
 */
#ifndef TRACEWELL_TARGET_BYTES_H
#define TRACEWELL_TARGET_BYTES_H

#include <stdint.h>

/* Functions with TW_CALLED are not inlined, because inlining them would double the size of the code. */
#if defined(__GNUC__)
#define TW_CALLED static __attribute__((noinline))
#define TW_INLINE static inline __attribute__((always_inline))
#else
#define TW_CALLED static
#define TW_INLINE static inline
#endif

TW_CALLED void put32(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
    to[2] = (uint8_t)(value >> 16);
    to[3] = (uint8_t)(value >> 24);
}

TW_CALLED uint32_t get32(const uint8_t *from)
{
    return (uint32_t)from[0] | ((uint32_t)from[1] << 8) | ((uint32_t)from[2] << 16) | ((uint32_t)from[3] << 24);
}

/* Writes a number as 1 to 5 bytes, and returns the address after its last byte. */
TW_CALLED uint8_t *number_to(uint8_t *to, uint32_t value)
{
    while (value > 0x7Fu) {
        *to++ = (uint8_t)(value | 0x80u);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

/* Returns the number of bytes that number_to() writes. */
TW_CALLED uint32_t size_of(uint32_t value)
{
    uint32_t size = 1;
    while (value > 0x7Fu) {
        value >>= 7;
        size++;
    }
    return size;
}

/* Continues the CRC-16 with a byte. The polynomial has few terms, so shifts replace a table. */
TW_INLINE uint32_t crc(uint32_t sum, uint32_t byte)
{
    uint32_t x = (sum >> 8) ^ byte;
    x ^= x >> 4;
    return ((sum << 8) ^ (x << 12) ^ (x << 5) ^ x) & 0xFFFFu;
}

TW_CALLED uint32_t crc_of(uint32_t sum, const uint8_t *bytes, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        sum = crc(sum, bytes[i]);
    }
    return sum;
}

TW_CALLED void copy(uint8_t *to, const uint8_t *from, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        to[i] = from[i];
    }
}

TW_CALLED void clear(uint8_t *to, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        to[i] = 0;
    }
}

#endif /* TRACEWELL_TARGET_BYTES_H */
