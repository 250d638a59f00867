/* A FreeRTOS program on a Cortex-M3 (QEMU's machine mps2-an385) with Tracewell's recorder. Two tasks
 * share a mutex, so the more urgent task waits for the less urgent task while a third task runs.
 * Tasks share a queue and a stream buffer. A timer notifies a task, which then deletes itself. The
 * timer also sets a bit for which another task waits. The idle task sends the trace over the serial
 * line. After 200 ms, the program saves the ring (trace.bin) and its own log of switches
 * (switches.bin) by semihosting.
 *
 * The macro PRIORITY_INVERSION builds the program with an error: the tasks share a semaphore instead
 * of the mutex. The holder of a semaphore does not inherit the priority of a task that waits for it.
 * The rules in bus.rules find this error. */
#include <stdint.h>
#include "FreeRTOS.h"
#include "event_groups.h"
#include "queue.h"
#include "semphr.h"
#include "stream_buffer.h"
#include "task.h"
#include "timers.h"
#include "tracewell_target_send.h"

#define MILLISECONDS 200

extern uint32_t stack_top[], data_start[], data_end[], data_load[], __bss_start__[], __bss_end__[];
void SVC_Handler(void);
void PendSV_Handler(void);
void SysTick_Handler(void);
void reset(void);

/* Step 3 of docs/target.md: memory and a clock. The board's counter runs at 25 MHz. */
static uint32_t ring[16384];

uint32_t tw_target_clock(void)
{
    return *(volatile uint32_t *)0x40028018;
}

/* Step 4: a function that sends bytes, here to the UART of the board. */
static uint32_t uart_send(const uint8_t *bytes, uint32_t length)
{
    volatile uint32_t *const uart = (uint32_t *)0x40004000;
    uint32_t sent = 0;
    /* Bit 0 of the second register is set while the UART cannot take a byte. */
    while ((sent < length) && ((uart[1] & 1u) == 0u)) {
        uart[0] = bytes[sent++];
    }
    return sent;
}

static void uart_start(void)
{
    volatile uint32_t *const uart = (uint32_t *)0x40004000;
    uart[4] = 16; /* the clock's divisor */
    uart[2] = 1;  /* send only */
}

static volatile int finished;
static uint16_t switches[1 << 14];
static uint32_t switch_count;

void own_log(uint32_t task)
{
    if (switch_count < sizeof switches / sizeof *switches) {
        switches[switch_count++] = (uint16_t)task;
    }
}

static SemaphoreHandle_t bus;
static QueueHandle_t samples;
static StreamBufferHandle_t bytes;
static EventGroupHandle_t beats;
static TaskHandle_t logger;

static int semihosting(int operation, const void *block)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void save(const char *name, uint32_t length_of_name, const void *bytes, uint32_t length)
{
    const uint32_t open[3] = {(uint32_t)name, 5, length_of_name};
    const int file = semihosting(1, open);
    const uint32_t write[3] = {(uint32_t)file, (uint32_t)bytes, length};
    const uint32_t close[1] = {(uint32_t)file};
    semihosting(5, write);
    semihosting(2, close);
}

static void finish(void)
{
    static const uint32_t success[2] = {0x20026, 0};
    const uint8_t *rest;
    taskDISABLE_INTERRUPTS();
    save("trace.bin", 9, ring, sizeof ring);
    tw_target_flush();
    while (tw_send_piece(&rest) != 0u) {
        tw_send(uart_send);
    }
    save("switches.bin", 12, switches, switch_count * (uint32_t)sizeof *switches);
    semihosting(0x20, success);
    for (;;) {
    }
}

/* The kernel calls this function in its idle task. */
void vApplicationIdleHook(void)
{
    tw_send_idle(uart_send, 1250000); /* 50 ms: maximum age of the events in an open packet */
    if (finished) {
        finish();
    }
}

/* Works for about this many ticks of the counter. While another task runs, the work makes no progress. */
static void work(uint32_t ticks)
{
    for (volatile uint32_t i = 0; i < ticks / 10; i++) {
    }
}

static void controller(void *unused)
{
    (void)unused;
    for (;;) {
        vTaskDelay(7);
        xSemaphoreTake(bus, portMAX_DELAY);
        work(2000);
        xSemaphoreGive(bus);
        tw_target_value(1, (int32_t)xTaskGetTickCount());
        if (xTaskGetTickCount() >= MILLISECONDS) {
            finished = 1;
            vTaskSuspend(NULL);
        }
    }
}

static void sampler(void *unused)
{
    TickType_t last = xTaskGetTickCount();
    (void)unused;
    for (;;) {
        const uint32_t sample = xTaskGetTickCount();
        xTaskDelayUntil(&last, 5);
        work(50000);
        xQueueSend(samples, &sample, 0);
        xStreamBufferSend(bytes, &sample, sizeof sample, 0);
    }
}

static void log_samples(void *unused)
{
    uint32_t sample;
    (void)unused;
    for (;;) {
        xSemaphoreTake(bus, portMAX_DELAY);
        work(60000);
        xSemaphoreGive(bus);
        while (xQueueReceive(samples, &sample, 2) == pdTRUE) {
        }
    }
}

static void monitor(void *unused)
{
    uint8_t received[16];
    (void)unused;
    for (;;) {
        xEventGroupWaitBits(beats, 1, pdTRUE, pdFALSE, portMAX_DELAY);
        xStreamBufferReceive(bytes, received, sizeof received, 0);
    }
}

static void short_lived(void *unused)
{
    (void)unused;
    ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
    vTaskDelete(NULL);
}

static void heartbeat(TimerHandle_t timer)
{
    (void)timer;
    if (logger != NULL) {
        xTaskNotifyGive(logger);
        logger = NULL;
    }
    xEventGroupSetBits(beats, 1);
    TW_EVENT(TW_MARK, 2, 0);
}

int main(void)
{
    static const struct tw_target_options options = {25000000, "FreeRTOS V11.2", 1, 0};
    tw_target_init(ring, sizeof ring, &options);
    tw_target_define(TW_CHANNEL, 1, 0, 0, "ticks");
    tw_target_define(TW_CHANNEL, 2, 0, 0, "heartbeat");
    tw_target_define(TW_INTERRUPT, 15, 0, 0, "SysTick");
    uart_start();
#ifdef PRIORITY_INVERSION
    bus = xSemaphoreCreateBinary();
    xSemaphoreGive(bus);
#else
    bus = xSemaphoreCreateMutex();
#endif
    samples = xQueueCreate(4, sizeof(uint32_t));
    bytes = xStreamBufferCreate(64, 1);
    beats = xEventGroupCreate();
    vQueueAddToRegistry(bus, "bus");
    vQueueAddToRegistry(samples, "samples");
    tw_target_define(TW_EVENT_GROUP, uxEventGroupGetNumber(beats), 0, 0, "beats");
    tw_target_define(TW_STREAM_BUFFER, uxStreamBufferGetStreamBufferNumber(bytes), 64, 0, "bytes");
    xTaskCreate(controller, "controller", 256, NULL, 5, NULL);
    xTaskCreate(sampler, "sampler", 256, NULL, 3, NULL);
    xTaskCreate(log_samples, "logger", 256, NULL, 2, NULL);
    xTaskCreate(monitor, "monitor", 256, NULL, 1, NULL);
    xTaskCreate(short_lived, "short-lived", 256, NULL, 4, &logger);
    xTimerStart(xTimerCreate("heartbeat", 20, pdTRUE, NULL, heartbeat), 0);
    vTaskStartScheduler();
    for (;;) {
    }
}

static void fault(void)
{
    static const uint32_t failure[2] = {0x20026, 1};
    semihosting(0x20, failure);
    for (;;) {
    }
}

void reset(void)
{
    const uint32_t *from = data_load;
    for (uint32_t *to = data_start; to < data_end; to++) {
        *to = *from++;
    }
    for (uint32_t *to = __bss_start__; to < __bss_end__; to++) {
        *to = 0;
    }
    main();
}

typedef union {
    uint32_t *stack;
    void (*handler)(void);
} vector;

__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
    {stack_top},           {.handler = reset}, {.handler = fault}, {.handler = fault}, {.handler = fault},
    {.handler = fault},    {.handler = fault}, {0},                {0},                {0},
    {0},                   {.handler = SVC_Handler}, {.handler = fault}, {0},
    {.handler = PendSV_Handler}, {.handler = SysTick_Handler},
};
