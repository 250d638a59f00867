/* The configuration of cost.c: the counter of the board as the clock, and locks that are measured. */
#include "board.h"

#define TW_TARGET_CLOCK() BOARD_COUNTER

#ifdef TW_MEASURE_LOCKS
uint32_t cost_lock(void);
void cost_unlock(void);
#define TW_TARGET_LOCK()    cost_lock()
#define TW_TARGET_UNLOCK(s) ((void)(s), cost_unlock())
#endif
