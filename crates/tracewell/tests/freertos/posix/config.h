/* The recorder's configuration for the POSIX port: an interrupt of this port is a signal. */
#include <stdint.h>
uint32_t posix_lock(void);
void posix_unlock(uint32_t was_locked);
#define TW_TARGET_LOCK()    posix_lock()
#define TW_TARGET_UNLOCK(s) posix_unlock(s)
