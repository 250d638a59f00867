/* The recorder's configuration for two cores: the lock excludes the other core. */
#include <stdint.h>
#define TW_TARGET_CORES 2
#define TW_TARGET_GROUPS 0xFFu
uint32_t recorder_lock(void);
void recorder_unlock(void);
long port_core(void);
#define TW_TARGET_CORE()    ((uint32_t)port_core())
#define TW_TARGET_LOCK()    recorder_lock()
#define TW_TARGET_UNLOCK(s) ((void)(s), recorder_unlock())
