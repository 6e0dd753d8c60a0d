/* A timer's handler calls AscendCL wherever it interrupts the program, mostly inside other calls, on the
 * program's stack or on one of its own. Every call returns, so every call must be recorded or counted.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "counted.h"

static atomic_int handled;

static void handle(int signal)
{
    aclrtRunMode mode;
    int32_t version[3];

    (void)signal;
    /* Neither takes a lock that what it interrupts may hold. */
    COUNT(aclrtGetRunMode(&mode));
    COUNT(aclrtGetVersion(&version[0], &version[1], &version[2]));
    handled++;
}

int main(int count, char **words)
{
    aclrtStream stream;
    aclrtEvent event;
    void *buffer;
    int32_t device;

    on_alarm(handle, count > 1 && strcmp(words[1], "alternate") == 0);
    COUNT(aclInit(NULL));
    COUNT(aclrtSetDevice(0));
    COUNT(aclrtCreateStream(&stream));
    COUNT(aclrtCreateEvent(&event));
    COUNT(aclrtMalloc(&buffer, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    alarm_every(100);
    while (handled < 500) {
        for (int i = 0; i < 100; i++) {
            COUNT(aclrtGetDevice(&device));
        }
        COUNT(aclrtMemsetAsync(buffer, 4096, 1, 4096, stream));
        COUNT(aclrtRecordEvent(event, stream));
        COUNT(aclrtSynchronizeStream(stream));
    }
    alarm_every(0);
    tell_counts();
    return 0;
}
