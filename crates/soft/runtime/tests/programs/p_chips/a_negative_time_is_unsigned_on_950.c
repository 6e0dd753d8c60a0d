/* The time from a later event to an earlier one is the difference of unsigned numbers, and a query looks at
   its own stream alone.
   SOFTACL: chip=950 */
#include "../check.h"

int main(void)
{
    enum { SIZE = 48000 };
    aclrtStream stream, other;
    aclrtEvent first, second, elsewhere;
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    void *host, *device;
    uint64_t stamp;
    float ms = 0;
    start();
    EXPECT(strncmp(aclrtGetSocName(), "Ascend950", 9), 0);
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    OK(aclrtMallocHost(&host, SIZE));
    OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtCreateEventExWithFlag(&first, ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventExWithFlag(&second, ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventExWithFlag(&elsewhere, ACL_EVENT_TIME_LINE));
    OK(aclrtRecordEvent(elsewhere, other));
    OK(aclrtRecordEvent(first, stream));
    OK(aclrtMemcpyAsync(device, SIZE, host, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtRecordEvent(second, stream));
    for (int i = 0; i < 5000 && status != ACL_EVENT_RECORDED_STATUS_COMPLETE; i++) {
        sleep_ms(1);
        OK(aclrtQueryEventStatus(second, &status));
    }
    OK(aclrtEventElapsedTime(&ms, first, second));
    TRUE(ms > 0 && ms < 1000);
    OK(aclrtEventElapsedTime(&ms, second, first));
    TRUE(ms > 1e13f);
    EXPECT(aclrtEventGetTimestamp(elsewhere, &stamp), 107006);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtEventGetTimestamp(elsewhere, &stamp));
    return finish();
}
