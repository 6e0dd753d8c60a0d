/* A training loop for whoever watches it: steps on three streams with waits and copies, and one call a step that fails. It
 * goes on until SIGUSR1, rests until SIGUSR2, and ends with a status of its own. Its output is the same each time.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "program.h"

#include <signal.h>
#include <time.h>

uint64_t mstxRangeStartA(const char *message, aclrtStream stream);
void mstxRangeEnd(uint64_t id);

enum { BYTES = 1 << 16, TASKS = 8, STATUS = 7 };

static volatile sig_atomic_t is_over, may_end;

static void take(int number)
{
    if (number == SIGUSR1) {
        is_over = 1;
    } else {
        may_end = 1;
    }
}

static void rest(void)
{
    struct timespec time = {0, 3000000};

    nanosleep(&time, NULL);
}

static void say(const char *what)
{
    puts(what);
    fflush(stdout);
}

static void step(int number, aclrtStream *streams, aclrtEvent event, char *device, char *host)
{
    char name[32];
    uint64_t range;

    snprintf(name, sizeof(name), "step %d", number);
    range = mstxRangeStartA(name, NULL);
    DO(aclrtMemcpyAsync(device, BYTES, host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, streams[0]));
    DO(aclrtRecordEvent(event, streams[0]));
    DO(aclrtStreamWaitEvent(streams[1], event));
    for (int i = 0; i < TASKS; i++) {
        DO(aclrtMemsetAsync(device, BYTES, i, BYTES, streams[1 + i % 2]));
    }
    for (int i = 0; i < 3; i++) {
        DO(aclrtSynchronizeStream(streams[i]));
    }
    require(aclrtFree(NULL) != ACL_SUCCESS, "nothing cannot be freed");
    rest();
    mstxRangeEnd(range);
}

int main(void)
{
    aclrtStream streams[3];
    aclrtEvent event;
    char *device, *host;

    signal(SIGUSR1, take);
    signal(SIGUSR2, take);
    say("works");
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    for (int i = 0; i < 3; i++) {
        DO(aclrtCreateStream(&streams[i]));
    }
    DO(aclrtCreateEvent(&event));
    DO(aclrtMalloc((void **)&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMallocHost((void **)&host, BYTES));
    for (int i = 0; !is_over; i++) {
        step(i, streams, event, device, host);
    }
    say("rests");
    while (!may_end) {
        rest();
    }
    say("ends");
    return STATUS;
}
