/* The direction of a copy follows from its addresses, whatever its kind says; in strict mode the kind
   has to exist. */
#include "../check.h"

int main(void)
{
    enum { SIZE = 64 };
    char *pinned, back[SIZE] = {0};
    void *device;
    aclrtStream stream;
    int wrong = strict() ? ACL_ERROR_INVALID_PARAM : ACL_SUCCESS;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost((void **)&pinned, SIZE));
    memset(pinned, 7, SIZE);
    OK(aclrtMemcpy(device, SIZE, pinned, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtMemcpy(back, SIZE, device, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT(memcmp(back, pinned, SIZE), 0);
    memset(pinned, 8, SIZE);
    OK(aclrtMemcpyAsync(device, SIZE, pinned, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    OK(aclrtMemcpyAsync(back, SIZE, device, SIZE, ACL_MEMCPY_DEFAULT, stream));
    EXPECT(memcmp(back, pinned, SIZE), 0);
    EXPECT(aclrtMemcpy(device, SIZE, pinned, SIZE, (aclrtMemcpyKind)99), wrong);
    EXPECT(aclrtMemcpyAsync(device, SIZE, pinned, SIZE, (aclrtMemcpyKind)99, stream), wrong);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy2d(device, 8, pinned, 8, 8, 8, ACL_MEMCPY_DEFAULT));
    EXPECT(aclrtMemcpy2d(device, 8, pinned, 8, 8, 8, ACL_MEMCPY_HOST_TO_HOST), wrong);
    EXPECT(aclrtMemcpy2dAsync(device, 8, pinned, 8, 8, 8, ACL_MEMCPY_HOST_TO_HOST, stream), wrong);
    OK(aclrtSynchronizeStream(stream));
    return finish();
}
