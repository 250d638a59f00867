/* A port for two cores, each of which is a thread of a Linux process (port.c). */
#ifndef PORTMACRO_H
#define PORTMACRO_H

#include <stddef.h>
#include <stdint.h>

#define portSTACK_TYPE size_t
#define portPOINTER_SIZE_TYPE size_t
#define portBASE_TYPE long
typedef portSTACK_TYPE StackType_t;
typedef long BaseType_t;
typedef unsigned long UBaseType_t;
typedef uint32_t TickType_t;
#define portTICK_TYPE_IS_ATOMIC 1
#define portMAX_DELAY ((TickType_t)0xFFFFFFFF)
#define portTICK_PERIOD_MS ((TickType_t)1)
#define portSTACK_GROWTH (-1)
#define portBYTE_ALIGNMENT 8
#define portCRITICAL_NESTING_IN_TCB 1
#define portTASK_FUNCTION(function, parameters) void function(void *parameters)
#define portTASK_FUNCTION_PROTO(function, parameters) void function(void *parameters)

BaseType_t port_core(void);
UBaseType_t port_mask(void);
void port_unmask(UBaseType_t mask);
void port_yield(BaseType_t core);
void port_poll(void);
void port_get_lock(int lock, BaseType_t core);
void port_release_lock(int lock, BaseType_t core);
BaseType_t port_is_in_interrupt(void);
void vTaskEnterCritical(void);
void vTaskExitCritical(void);
UBaseType_t vTaskEnterCriticalFromISR(void);
void vTaskExitCriticalFromISR(UBaseType_t mask);

#define portGET_CORE_ID() port_core()
#define portYIELD() port_yield(port_core())
#define portYIELD_CORE(core) port_yield(core)
#define portDISABLE_INTERRUPTS() port_mask()
#define portENABLE_INTERRUPTS() port_unmask(0)
#define portSET_INTERRUPT_MASK() port_mask()
#define portCLEAR_INTERRUPT_MASK(mask) port_unmask(mask)
#define portSET_INTERRUPT_MASK_FROM_ISR() port_mask()
#define portCLEAR_INTERRUPT_MASK_FROM_ISR(mask) port_unmask(mask)
#define portENTER_CRITICAL() vTaskEnterCritical()
#define portEXIT_CRITICAL() vTaskExitCritical()
#define portENTER_CRITICAL_FROM_ISR() vTaskEnterCriticalFromISR()
#define portEXIT_CRITICAL_FROM_ISR(mask) vTaskExitCriticalFromISR(mask)
#define portGET_TASK_LOCK(core) port_get_lock(0, core)
#define portRELEASE_TASK_LOCK(core) port_release_lock(0, core)
#define portGET_ISR_LOCK(core) port_get_lock(1, core)
#define portRELEASE_ISR_LOCK(core) port_release_lock(1, core)
#define portCHECK_IF_IN_ISR() port_is_in_interrupt()

#endif
