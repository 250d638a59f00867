/* For each number on standard input, records this many events, then prints the number of all events so far. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "steps.h"

#include <stdio.h>

int main(void)
{
    static const char *const texts[] = {"-", "one", "two words", "\"quoted\""};
    static const unsigned char bytes[] = {1, 2, 255};
    int count, number = 0;
    while (scanf("%d", &count) == 1) {
        for (int end = number + count; number < end; number++)
            lttng_ust_tracepoint(tw, step, number, texts[number % 4], bytes);
        printf("%d\n", number);
        fflush(stdout);
    }
    return 0;
}
