/* The host waits for an event: for what was on a stream up to one point, not for all of it. */
#include "count.h"

enum { BYTES = 1 << 20 };

int main(void)
{
    aclrtStream stream;
    aclrtEvent event;
    void *host;
    void *device;

    CALL(aclInit(NULL));
    CALL(aclrtSetDevice(0));
    CALL(aclrtCreateEventExWithFlag(&event, ACL_EVENT_CAPTURE_STREAM_PROGRESS));
    CALL(aclrtCreateStream(&stream));
    CALL(aclrtMallocHost(&host, BYTES));
    CALL(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));

    for (int round = 0; round < 3; round++) {
        TASK(aclrtMemcpyAsync(device, BYTES, host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        TASK(aclrtRecordEvent(event, stream));
        TASK(aclrtMemcpyAsync(host, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        CALL(aclrtSynchronizeEvent(event));
        printf("round %d: the copy to the device is done\n", round);
    }
    CALL(aclrtSynchronizeStream(stream));

    CALL(aclrtFree(device));
    CALL(aclrtFreeHost(host));
    CALL(aclrtDestroyStream(stream));
    CALL(aclrtDestroyEvent(event));
    CALL(aclrtResetDevice(0));
    CALL(aclFinalize());
    return report_counts();
}
