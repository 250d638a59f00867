/* A FreeRTOS program as a Linux process. Two tasks share a mutex, and two tasks share a queue. A timer
 * gives a semaphore. After 300 ms, the program saves the ring (trace.bin) and its own log of switches
 * (switches.bin). */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include "FreeRTOS.h"
#include "queue.h"
#include "semphr.h"
#include "task.h"
#include "timers.h"

static uint32_t ring[1 << 16];
static uint16_t switches[1 << 14];
static uint32_t switch_count;
static SemaphoreHandle_t bus, beat;
static QueueHandle_t samples;

uint32_t tw_target_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)((uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u);
}

uint32_t posix_lock(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    return sigismember(&before, SIGALRM) != 0;
}

void posix_unlock(uint32_t was_locked)
{
    sigset_t none;
    sigemptyset(&none);
    if (!was_locked) {
        pthread_sigmask(SIG_SETMASK, &none, NULL);
    }
}

void own_log(uint32_t task)
{
    if (switch_count < sizeof switches / sizeof *switches) {
        switches[switch_count++] = (uint16_t)task;
    }
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
    const uint32_t start = tw_target_clock();
    while (tw_target_clock() - start < microseconds) {
    }
}

static void controller(void *unused)
{
    (void)unused;
    while (xTaskGetTickCount() < 300) {
        vTaskDelay(3);
        xSemaphoreTake(bus, portMAX_DELAY);
        work(100);
        xSemaphoreGive(bus);
    }
    taskENTER_CRITICAL();
    tw_target_flush();
    save("trace.bin", ring, sizeof ring);
    save("switches.bin", switches, switch_count * sizeof *switches);
    _exit(0);
}

static void sampler(void *unused)
{
    uint32_t sample = 0;
    (void)unused;
    for (;;) {
        vTaskDelay(5);
        sample++;
        xQueueSend(samples, &sample, 0);
    }
}

static void logger(void *unused)
{
    uint32_t sample;
    (void)unused;
    for (;;) {
        xQueueReceive(samples, &sample, portMAX_DELAY);
        xSemaphoreTake(bus, portMAX_DELAY);
        work(2000);
        xSemaphoreGive(bus);
    }
}

static void waiter(void *unused)
{
    (void)unused;
    for (;;) {
        xSemaphoreTake(beat, portMAX_DELAY);
    }
}

static void give(TimerHandle_t timer)
{
    (void)timer;
    xSemaphoreGive(beat);
}

int main(void)
{
    static const struct tw_target_options options = {1000000, "FreeRTOS V11.2", 1, 0};
    if (tw_target_init(ring, sizeof ring, &options) != 0) {
        return 2;
    }
    bus = xSemaphoreCreateMutex();
    beat = xSemaphoreCreateBinary();
    samples = xQueueCreate(4, sizeof(uint32_t));
    vQueueAddToRegistry(bus, "bus");
    vQueueAddToRegistry(beat, "beat");
    vQueueAddToRegistry(samples, "samples");
    xTaskCreate(controller, "controller", configMINIMAL_STACK_SIZE, NULL, 5, NULL);
    xTaskCreate(sampler, "sampler", configMINIMAL_STACK_SIZE, NULL, 3, NULL);
    xTaskCreate(logger, "logger", configMINIMAL_STACK_SIZE, NULL, 2, NULL);
    xTaskCreate(waiter, "waiter", configMINIMAL_STACK_SIZE, NULL, 4, NULL);
    xTimerStart(xTimerCreate("beat", 20, pdTRUE, NULL, give), 0);
    vTaskStartScheduler();
    return 4;
}
