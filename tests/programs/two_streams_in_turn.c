/* Two streams wait for each other in turn: each has tasks of the same sizes in every round.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "program.h"

enum { ROUNDS = 400, TOGETHER = 50, LARGE = 1 << 20, SMALL = 1 << 19 };

static void *buffer;

static void fill(aclrtStream stream, size_t bytes)
{
    DO(aclrtMemsetAsync(buffer, LARGE, 1, bytes, stream));
}

int main(void)
{
    aclrtStream streams[2];
    aclrtEvent events[2];

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc(&buffer, LARGE, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < 2; i++) {
        DO(aclrtCreateStream(&streams[i]));
        DO(aclrtCreateEventWithFlag(&events[i], ACL_EVENT_SYNC));
    }
    for (int round = 1; round <= ROUNDS; round++) {
        fill(streams[0], LARGE);
        fill(streams[0], LARGE);
        DO(aclrtRecordEvent(events[0], streams[0]));
        DO(aclrtStreamWaitEvent(streams[1], events[0]));
        fill(streams[1], SMALL);
        DO(aclrtRecordEvent(events[1], streams[1]));
        DO(aclrtStreamWaitEvent(streams[0], events[1]));
        if (round % TOGETHER == 0) {
            DO(aclrtSynchronizeDevice());
        }
    }
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
