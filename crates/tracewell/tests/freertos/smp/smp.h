/* The clock, and the log of the port. The port in this folder and its program share them. */
#ifndef SMP_H
#define SMP_H

#include <stdint.h>

/* A switch of tasks: the times before and after the kernel's choice, and the name of the new task. */
struct switched {
    uint64_t before, after; /* ns */
    char task[16];
};

extern struct switched switched[2][1 << 14];
extern uint32_t switched_count[2];

uint64_t nanoseconds(void);

#endif
