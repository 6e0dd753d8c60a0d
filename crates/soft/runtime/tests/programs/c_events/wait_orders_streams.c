/* A wait holds its stream until the record of another stream was reached; several may wait. */
#include "../check.h"

int main(void)
{
    enum { WAITERS = 3, SIZE = 4096 };
    aclrtStream source, waiting[WAITERS];
    aclrtEvent event;
    aclrtEventRecordedStatus status;
    struct gate gate = {0, 0};
    void *from, *middle, *to;
    start();
    OK(aclrtMallocHost(&from, SIZE));
    OK(aclrtMallocHost(&to, SIZE));
    OK(aclrtMalloc(&middle, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    memset(from, 7, SIZE);
    memset(to, 0, SIZE);
    OK(aclrtCreateStream(&source));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtLaunchHostFunc(source, wait_at_gate, &gate));
    OK(aclrtMemcpyAsync(middle, SIZE, from, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, source));
    OK(aclrtRecordEvent(event, source));
    for (int i = 0; i < WAITERS; i++) {
        OK(aclrtCreateStream(&waiting[i]));
        OK(aclrtStreamWaitEvent(waiting[i], event));
    }
    OK(aclrtMemcpyAsync(to, SIZE, middle, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, waiting[1]));
    for (int i = 0; i < WAITERS; i++) {
        aclrtStreamStatus state;
        OK(aclrtStreamQuery(waiting[i], &state));
        EXPECT(state, ACL_STREAM_STATUS_NOT_READY);
    }
    OK(aclrtQueryEventStatus(event, &status));
    EXPECT(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    open_gate(&gate);
    for (int i = 0; i < WAITERS; i++) {
        OK(aclrtSynchronizeStream(waiting[i]));
    }
    OK(aclrtQueryEventStatus(event, &status));
    EXPECT(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    EXPECT(memcmp(from, to, SIZE), 0);
    return finish();
}
