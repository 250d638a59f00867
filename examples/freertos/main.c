/* A FreeRTOS program on a Cortex-M3 (QEMU's machine mps2-an385) with Tracewell's recorder. Two tasks
 * share a mutex, so that the more urgent one waits for the less urgent one while a third task runs.
 * Two tasks share a queue. A timer notifies a task, which then deletes itself. After 200 ms, the
 * program saves three files by semihosting: the ring (trace.bin), the bytes of the line (line.bin)
 * and its own log of switches (switches.bin). */
#include <stdint.h>
#include "FreeRTOS.h"
#include "queue.h"
#include "semphr.h"
#include "task.h"
#include "timers.h"

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

static uint8_t line[1 << 17];
static uint32_t line_length;
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
    taskDISABLE_INTERRUPTS();
    save("trace.bin", 9, ring, sizeof ring);
    tw_target_flush();
    for (;;) {
        const uint32_t length = tw_target_read(&line[line_length], (uint32_t)sizeof line - line_length);
        if (length == 0) {
            break;
        }
        line_length += length;
    }
    save("line.bin", 8, line, line_length);
    save("switches.bin", 12, switches, switch_count * (uint32_t)sizeof *switches);
    semihosting(0x20, success);
    for (;;) {
    }
}

static void work(uint32_t cycles)
{
    const uint32_t start = tw_target_clock();
    while (tw_target_clock() - start < cycles) {
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
            finish();
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
        work(10000);
        xQueueSend(samples, &sample, 0);
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
    TW_EVENT(TW_MARK, 2, 0);
}

int main(void)
{
    static const struct tw_target_options options = {25000000, "FreeRTOS V11.2", 1, 0};
    tw_target_init(ring, sizeof ring, &options);
    tw_target_define(TW_CHANNEL, 1, 0, 0, "ticks");
    tw_target_define(TW_CHANNEL, 2, 0, 0, "heartbeat");
    tw_target_define(TW_INTERRUPT, 15, 0, 0, "SysTick");
    bus = xSemaphoreCreateMutex();
    samples = xQueueCreate(4, sizeof(uint32_t));
    vQueueAddToRegistry(bus, "bus");
    vQueueAddToRegistry(samples, "samples");
    xTaskCreate(controller, "controller", 256, NULL, 5, NULL);
    xTaskCreate(sampler, "sampler", 256, NULL, 3, NULL);
    xTaskCreate(log_samples, "logger", 256, NULL, 2, NULL);
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
