/* Calls on stacks of the program's own (makecontext), above and below its first one, while a timer's handler
 * calls AscendCL and jumps out of calls between fibers. Nobody is to take a call of another stack for one
 * that was left.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <sys/mman.h>
#include <ucontext.h>

#include "counted.h"

enum { FIBERS = 4, BYTES = 256 * 1024, ROUNDS = 2000 };

static ucontext_t scheduler;
static ucontext_t fibers[FIBERS];
static char on_the_heap[FIBERS / 2][BYTES];

static void handle(int signal)
{
    aclrtRunMode mode;

    (void)signal;
    COUNT(aclrtGetRunMode(&mode));
}

static void body(int number)
{
    for (;;) {
        int32_t device;
        size_t free_bytes, total;

        COUNT(aclrtGetDevice(&device));
        COUNT(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
        swapcontext(&fibers[number], &scheduler);
    }
}

int main(void)
{
    on_alarm(handle, 1);
    COUNT(aclInit(NULL));
    COUNT(aclrtSetDevice(0));
    for (int i = 0; i < FIBERS; i++) {
        void *stack = on_the_heap[i / 2];
        if (i % 2) {
            stack = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        }
        getcontext(&fibers[i]);
        fibers[i].uc_stack.ss_sp = stack;
        fibers[i].uc_stack.ss_size = BYTES;
        makecontext(&fibers[i], (void (*)(void))body, 1, i);
    }
    alarm_every(100);
    for (int round = 0; round < ROUNDS; round++) {
        int32_t device;
        swapcontext(&scheduler, &fibers[round % FIBERS]);
        COUNT(aclrtGetDevice(&device));
    }
    alarm_every(0);
    tell_counts();
    return 0;
}
