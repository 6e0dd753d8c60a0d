/* Lengths, pointers and ranges of copies are checked. */
#include "../check.h"

int main(void)
{
    char buffer[64];
    void *device, *pinned;
    aclrtStream stream;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&pinned, 64));
    EXPECT(aclrtMemcpy(device, 64, buffer, 65, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtMemcpy(device, 64, buffer, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT(aclrtMemcpy(NULL, 64, buffer, 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemcpy(device, 64, NULL, 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemcpyAsync(device, 64, pinned, 65, ACL_MEMCPY_HOST_TO_DEVICE, stream),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemcpyAsync(device, 4096, pinned, 2048, ACL_MEMCPY_HOST_TO_DEVICE, stream),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemcpyAsync(pinned, 64, buffer, 64, ACL_MEMCPY_HOST_TO_HOST, stream),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtMemset(device, 64, 0, 65), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemset(NULL, 64, 0, 64), ACL_ERROR_INVALID_PARAM);
    OK(aclrtMemsetAsync(device, 64, 0, 0, stream));
    EXPECT(aclrtMemsetAsync(buffer, 64, 0, 64, stream), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtFree(device));
    EXPECT(aclrtMemcpy(device, 64, buffer, 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtSynchronizeStream(stream));
    return finish();
}
