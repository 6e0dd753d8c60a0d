/* A timeline event gives its time only after a query or a synchronisation saw it complete. */
#include "../check.h"

int main(void)
{
    enum { SIZE = 24000 };
    aclrtStream stream;
    aclrtEvent first, second;
    float ms = -1;
    uint64_t stamp = 0, later = 0;
    void *host, *device;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMallocHost(&host, SIZE));
    OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtCreateEventExWithFlag(&first, ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventExWithFlag(&second, ACL_EVENT_TIME_LINE));
    EXPECT(aclrtEventElapsedTime(&ms, first, second), ACL_ERROR_RT_INTERNAL_ERROR);
    OK(aclrtRecordEvent(first, stream));
    OK(aclrtMemcpyAsync(device, SIZE, host, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtRecordEvent(second, stream));
    sleep_ms(20);
    EXPECT(aclrtEventElapsedTime(&ms, first, second), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
    EXPECT(aclrtEventGetTimestamp(first, &stamp), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtEventElapsedTime(&ms, first, second));
    /* 24000 bytes at 24 GB/s and 1500 ns of latency: at least 2500 ns. */
    TRUE(ms >= 0.00249f && ms < 1000.0f);
    OK(aclrtEventElapsedTime(&ms, second, first));
    TRUE(ms < 0);
    OK(aclrtEventGetTimestamp(first, &stamp));
    OK(aclrtEventGetTimestamp(second, &later));
    TRUE(later >= stamp + 2);
    OK(aclrtRecordEvent(first, stream));
    EXPECT(aclrtEventGetTimestamp(first, &stamp), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
    OK(aclrtSynchronizeEvent(first));
    OK(aclrtEventGetTimestamp(first, &stamp));
    TRUE(stamp >= later);
    EXPECT(aclrtEventGetTimestamp(NULL, &stamp), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtEventGetTimestamp(first, NULL), ACL_ERROR_INVALID_PARAM);
    return finish();
}
