/* A timer's handler jumps out of whatever it interrupts, over and over: also out of the tracer's own work.
 * Whoever waits for that work to be done waits for ever. Afterwards, deeper on the stack than the jumps
 * went, there are calls that nothing disturbs.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "counted.h"

enum { JUMPS = 150, CALM = 1000 };

static sigjmp_buf outside;
static volatile sig_atomic_t may_jump;
static volatile int jumps;

static void handle(int signal)
{
    (void)signal;
    if (may_jump) {
        may_jump = 0;
        siglongjmp(outside, 1);
    }
}

static __attribute__((noinline)) void calm(int depth)
{
    volatile char room[1024];
    int32_t device;

    memset((void *)room, depth, sizeof(room));
    if (depth > 0) {
        calm(depth - 1);
    } else {
        for (int i = 0; i < CALM; i++) {
            COUNT(aclrtGetDevice(&device));
        }
    }
    room[0] = room[1];
}

int main(int count, char **words)
{
    int32_t device;

    on_alarm(handle, count > 1 && strcmp(words[1], "alternate") == 0);
    COUNT(aclInit(NULL));
    COUNT(aclrtSetDevice(0));
    alarm_every(50);
    while (jumps < JUMPS) {
        if (sigsetjmp(outside, 1) != 0) {
            jumps++;
            usleep(200);
            continue;
        }
        may_jump = 1;
        for (int i = 0; i < 100000 && may_jump; i++) {
            COUNT(aclrtGetDevice(&device));
        }
        may_jump = 0;
    }
    alarm_every(0);
    tell_counts();
    /* Told apart, since these have to be recorded. */
    calm(20);
    printf("calm %d\n", CALM);
    tell_counts();
    return 0;
}
