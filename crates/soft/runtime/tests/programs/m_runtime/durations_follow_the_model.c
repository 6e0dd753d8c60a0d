/* Times of tasks are the model's to the tick, whatever the host is doing.
   SOFTACL: tick_ns=1,h2d_mbps=1000,d2h_mbps=500,copy_ns=700,memset_ns=300,memset_mbps=2000 */
#include "../check.h"

int main(void)
{
    enum { SIZE = 100000 };
    void *host, *device;
    aclrtStream stream;
    aclrtEvent events[4];
    float ms = 0;
    struct gate gate = {0, 0};
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMallocHost(&host, SIZE));
    OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < 4; i++) {
        OK(aclrtCreateEventExWithFlag(&events[i], ACL_EVENT_TIME_LINE));
    }
    /* All is queued behind a task that ends later, so that no submission time plays a part. */
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    OK(aclrtRecordEvent(events[0], stream));
    OK(aclrtMemcpyAsync(device, SIZE, host, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtRecordEvent(events[1], stream));
    OK(aclrtMemcpyAsync(host, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtRecordEvent(events[2], stream));
    OK(aclrtMemsetAsync(device, SIZE, 0, SIZE, stream));
    OK(aclrtRecordEvent(events[3], stream));
    open_gate(&gate);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtEventElapsedTime(&ms, events[0], events[1]));
    EXPECT((long long)(ms * 1e6f + 0.5f), 100700);
    OK(aclrtEventElapsedTime(&ms, events[1], events[2]));
    EXPECT((long long)(ms * 1e6f + 0.5f), 200700);
    OK(aclrtEventElapsedTime(&ms, events[2], events[3]));
    EXPECT((long long)(ms * 1e6f + 0.5f), 50300);
    return finish();
}
