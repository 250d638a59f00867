/* A program for FreeRTOS on two cores. Four tasks share a mutex and a queue; one task runs on core 1 only,
 * and one creates tasks that delete themselves. After 250 ticks, the program saves the ring (trace.bin),
 * the port's log of switches (core0.bin, core1.bin) and its own log of the mutex (owners.bin). */
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#include "FreeRTOS.h"
#include "queue.h"
#include "semphr.h"
#include "task.h"
#include "smp.h"

#define END 250

static uint32_t ring[1 << 18];
static SemaphoreHandle_t bus;
static QueueHandle_t samples;
static char owners[1 << 14][16];
static uint32_t owner_count;
static atomic_flag recording = ATOMIC_FLAG_INIT;

uint32_t recorder_lock(void)
{
    while (atomic_flag_test_and_set(&recording)) {
        sched_yield();
    }
    return 0;
}

void recorder_unlock(void)
{
    atomic_flag_clear(&recording);
}

uint32_t tw_target_clock(void)
{
    return (uint32_t)nanoseconds();
}

static void save(const char *name, const void *bytes, size_t length)
{
    const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, bytes, length) != (ssize_t)length || close(file) != 0) {
        _exit(3);
    }
}

static void work(uint32_t microseconds)
{
    const uint64_t end = nanoseconds() + microseconds * 1000u;
    while (nanoseconds() < end) {
        port_poll();
    }
}

/* Takes the mutex, notes its owner, and holds it for a time. */
static void use_bus(uint32_t microseconds)
{
    xSemaphoreTake(bus, portMAX_DELAY);
    strncpy(owners[owner_count], pcTaskGetName(NULL), sizeof *owners);
    owner_count += (owner_count + 1 < sizeof owners / sizeof *owners) ? 1 : 0;
    work(microseconds);
    xSemaphoreGive(bus);
}

static void controller(void *unused)
{
    (void)unused;
    while (xTaskGetTickCount() < END) {
        vTaskDelay(2);
        use_bus(100);
    }
    /* The other core waits for the kernel's locks, so it records nothing. */
    taskENTER_CRITICAL();
    tw_target_flush();
    save("trace.bin", ring, sizeof ring);
    save("core0.bin", switched[0], switched_count[0] * sizeof **switched);
    save("core1.bin", switched[1], switched_count[1] * sizeof **switched);
    save("owners.bin", owners, owner_count * sizeof *owners);
    _exit(0);
}

static void sampler(void *unused)
{
    (void)unused;
    for (uint32_t sample = 0;; sample++) {
        vTaskDelay(1);
        xQueueSend(samples, &sample, 0);
        work(200);
    }
}

static void logger(void *unused)
{
    uint32_t sample;
    (void)unused;
    for (;;) {
        xQueueReceive(samples, &sample, portMAX_DELAY);
        use_bus(400);
    }
}

static void once(void *unused)
{
    (void)unused;
    use_bus(50);
    vTaskDelete(NULL);
}

static void creator(void *unused)
{
    (void)unused;
    for (;;) {
        vTaskDelay(20);
        xTaskCreate(once, "once", configMINIMAL_STACK_SIZE, NULL, 4, NULL);
    }
}

int main(void)
{
    static const struct tw_target_options options = {
        .rate = 1000000000, .kernel = "FreeRTOS SMP", .larger_is_urgent = 1,
    };
    TaskHandle_t pinned;
    if (tw_target_init(ring, sizeof ring, &options) != 0) {
        return 2;
    }
    bus = xSemaphoreCreateMutex();
    samples = xQueueCreate(8, sizeof(uint32_t));
    vQueueAddToRegistry(bus, "bus");
    vQueueAddToRegistry(samples, "samples");
    xTaskCreate(controller, "controller", configMINIMAL_STACK_SIZE, NULL, 5, NULL);
    xTaskCreate(sampler, "sampler", configMINIMAL_STACK_SIZE, NULL, 3, NULL);
    xTaskCreate(logger, "logger", configMINIMAL_STACK_SIZE, NULL, 2, &pinned);
    xTaskCreate(creator, "creator", configMINIMAL_STACK_SIZE, NULL, 4, NULL);
    vTaskCoreAffinitySet(pinned, 1u << 1);
    vTaskStartScheduler();
    return 1;
}
