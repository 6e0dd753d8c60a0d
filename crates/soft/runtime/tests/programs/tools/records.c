/* records: 100 copies between two events each, and what their times say of each copy. */
#include "../check.h"

enum { COPIES = 100, SIZE = 48000 };

int main(void)
{
    static aclrtEvent events[2 * COPIES];
    struct gate gate = {0, 0};
    aclrtStream stream;
    void *host, *memory;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMallocHost(&host, SIZE));
    OK(aclrtMalloc(&memory, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    /* All is queued before the first of them may begin. */
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    for (int i = 0; i < COPIES; i++) {
        OK(aclrtCreateEventExWithFlag(&events[2 * i], ACL_EVENT_TIME_LINE));
        OK(aclrtCreateEventExWithFlag(&events[2 * i + 1], ACL_EVENT_TIME_LINE));
        OK(aclrtRecordEvent(events[2 * i], stream));
        OK(aclrtMemcpyAsync(memory, SIZE, host, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        OK(aclrtRecordEvent(events[2 * i + 1], stream));
    }
    open_gate(&gate);
    OK(aclrtSynchronizeStream(stream));
    for (int i = 0; i < COPIES; i++) {
        float ms = 0;
        OK(aclrtEventElapsedTime(&ms, events[2 * i], events[2 * i + 1]));
        printf("span %lld\n", (long long)(ms * 1e6f + 0.5f));
    }
    return finish();
}
