/* A stream can wait for a number in device memory that another one writes. */
#include "../check.h"

int main(void)
{
    aclrtStream first, second;
    uint64_t *number, *pinned, seen = 0;
    struct gate gate = {0, 0};
    start();
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtMalloc((void **)&number, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(number, 64, 0, 64));
    OK(aclrtValueWait(number, 10, ACL_STREAM_WAIT_VALUE_GEQ, second));
    EXPECT(aclrtSynchronizeStreamWithTimeout(second, 30), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    OK(aclrtLaunchHostFunc(first, wait_at_gate, &gate));
    OK(aclrtValueWrite(number, 11, 0, first));
    OK(aclrtMemcpy(&seen, 8, number, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(seen, 0);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(second));
    OK(aclrtMemcpy(&seen, 8, number, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(seen, 11);
    OK(aclrtValueWait(number, 2, ACL_STREAM_WAIT_VALUE_AND, second));
    OK(aclrtValueWait(number, 11, ACL_STREAM_WAIT_VALUE_EQ, second));
    OK(aclrtSynchronizeStream(second));
    OK(aclrtValueWait(number, 5, ACL_STREAM_WAIT_VALUE_EQ, second));
    seen = 5;
    OK(aclrtMemcpy(number, 8, &seen, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtSynchronizeStream(second));
    OK(aclrtValueWrite((char *)number + 12, 7, 0, first));
    OK(aclrtValueWait((char *)number + 12, 7, ACL_STREAM_WAIT_VALUE_EQ, second));
    OK(aclrtSynchronizeStream(second));
    OK(aclrtMallocHost((void **)&pinned, 64));
    EXPECT(aclrtValueWait(pinned, 1, 0, first), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtValueWrite(pinned, 1, 0, first), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtValueWrite(NULL, 1, 0, first), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtValueWait(number, 1, 4, first), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtValueWait(&seen, 1, 0, first), ACL_ERROR_RT_PARAM_INVALID);
    return finish();
}
