/* Events that are destroyed, and recorded again, while they are on their way. */
#include "program.h"

enum { BYTES = 1 << 20, ROUNDS = 200 };

int main(void)
{
    aclrtStream streams[2];
    aclrtEvent event;
    void *buffer;
    int broken = 0;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtCreateStream(&streams[0]));
    DO(aclrtCreateStream(&streams[1]));
    for (int round = 0; round < ROUNDS; round++) {
        DO(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
        DO(aclrtMemsetAsync(buffer, BYTES, round, BYTES, streams[0]));
        DO(aclrtRecordEvent(event, streams[0]));
        DO(aclrtStreamWaitEvent(streams[1], event));
        DO(aclrtRecordEvent(event, streams[0]));
        DO(aclrtStreamWaitEvent(streams[1], event));
        broken += aclrtDestroyEvent(event) != ACL_SUCCESS;
    }
    DO(aclrtSynchronizeStream(streams[1]));
    printf("%d rounds, %d broken\n", ROUNDS, broken);
    /* Tasks are left on the streams that go now. */
    DO(aclrtMemsetAsync(buffer, BYTES, 0, BYTES, streams[0]));
    DO(aclrtDestroyStream(streams[0]));
    DO(aclrtDestroyStream(streams[1]));
    return 0;
}
