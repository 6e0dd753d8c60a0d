/* Two streams wait for one event of a third: they start together when its copy is done. */
#include "count.h"

enum { BYTES = 4 << 20, PART = BYTES / 2 };

int main(void)
{
    aclrtStream producer;
    aclrtStream consumers[2];
    aclrtEvent copied;
    char *host;
    char *device;

    CALL(aclInit(NULL));
    CALL(aclrtSetDevice(0));
    CALL(aclrtCreateEventExWithFlag(&copied, ACL_EVENT_SYNC));
    CALL(aclrtCreateStream(&producer));
    CALL(aclrtCreateStream(&consumers[0]));
    CALL(aclrtCreateStream(&consumers[1]));
    CALL(aclrtMallocHost((void **)&host, BYTES));
    CALL(aclrtMalloc((void **)&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));

    for (int round = 0; round < 4; round++) {
        TASK(aclrtMemcpyAsync(device, BYTES, host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, producer));
        TASK(aclrtRecordEvent(copied, producer));
        for (int i = 0; i < 2; i++) {
            WAIT(aclrtStreamWaitEvent(consumers[i], copied));
            TASK(aclrtMemsetAsync(device + i * PART, PART, round + i, PART, consumers[i]));
            TASK(aclrtMemcpyAsync(host + i * PART, PART, device + i * PART, PART,
                                  ACL_MEMCPY_DEVICE_TO_HOST, consumers[i]));
        }
        CALL(aclrtSynchronizeStream(consumers[0]));
        CALL(aclrtSynchronizeStream(consumers[1]));
        printf("round %d: %d and %d\n", round, host[0], host[PART]);
    }

    CALL(aclrtFree(device));
    CALL(aclrtFreeHost(host));
    CALL(aclrtDestroyStream(consumers[1]));
    CALL(aclrtDestroyStream(consumers[0]));
    CALL(aclrtDestroyStream(producer));
    CALL(aclrtDestroyEvent(copied));
    CALL(aclrtResetDevice(0));
    CALL(aclFinalize());
    return report_counts();
}
