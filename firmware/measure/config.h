/* The configuration of cost.c. The clock is the counter of the board. With TW_MEASURE_LOCKS, cost.c measures the time
 * for which the lock is held. */
#include "board.h"

#define TW_TARGET_CLOCK() BOARD_COUNTER

#ifdef TW_MEASURE_LOCKS
uint32_t cost_lock(void);
void cost_unlock(void);
#define TW_TARGET_LOCK()    cost_lock()
#define TW_TARGET_UNLOCK(s) ((void)(s), cost_unlock())
#endif
