/* The configuration of the harness: a clock and a core that the script sets, and no lock. */
#include <stdint.h>
extern uint32_t harness_now;
extern uint32_t harness_core;
#define TW_TARGET_CLOCK()   harness_now
#define TW_TARGET_CORE()    harness_core
#define TW_TARGET_LOCK()    0u
#define TW_TARGET_UNLOCK(s) ((void)(s))
