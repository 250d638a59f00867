/* The recorder's configuration for the POSIX port. Interrupts of this port are signals, so the lock
 * blocks signals. */
#include <stdint.h>
uint32_t posix_lock(void);
void posix_unlock(uint32_t was_locked);
#define TW_TARGET_LOCK()    posix_lock()
#define TW_TARGET_UNLOCK(s) posix_unlock(s)
