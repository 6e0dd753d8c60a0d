/* The direction of a copy follows from its addresses, whatever its kind says; but the kind has to exist for the
   function, unless there is nothing to copy. */
#include "../check.h"

int main(void)
{
    enum { SIZE = 64 };
    char *pinned, back[SIZE] = {0};
    void *device;
    aclrtStream stream;
    int wrong = ACL_ERROR_INVALID_PARAM;
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
    for (int kind = -1; kind < 12; kind++) {
        int plain = kind >= 0 && kind <= 5 ? ACL_SUCCESS : wrong;
        int rows = kind >= 1 && kind <= 4 ? ACL_SUCCESS : wrong;
        aclrtMemcpyKind as = (aclrtMemcpyKind)kind;
        EXPECT(aclrtMemcpy(device, SIZE, pinned, SIZE, as), plain);
        EXPECT(aclrtMemcpyAsync(device, SIZE, pinned, SIZE, as, stream), plain);
        EXPECT(aclrtMemcpyAsyncWithCondition(device, SIZE, pinned, SIZE, as, stream), plain);
        EXPECT(aclrtMemcpy2d(device, 8, pinned, 8, 8, 8, as), kind == 3 ? wrong : rows);
        EXPECT(aclrtMemcpy2dAsync(device, 8, pinned, 8, 8, 8, as, stream), rows);
        OK(aclrtMemcpy(device, SIZE, pinned, 0, as));
        OK(aclrtMemcpyAsync(device, SIZE, pinned, 0, as, stream));
        OK(aclrtMemcpy2d(device, 8, pinned, 8, 8, 0, as));
    }
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy2d(device, 8, pinned, 8, 8, 8, ACL_MEMCPY_DEFAULT));
    EXPECT(aclrtMemcpy2d(device, 8, pinned, 8, 8, 8, ACL_MEMCPY_HOST_TO_HOST), wrong);
    EXPECT(aclrtMemcpy2dAsync(device, 8, pinned, 8, 8, 8, ACL_MEMCPY_HOST_TO_HOST, stream), wrong);
    OK(aclrtSynchronizeStream(stream));
    return finish();
}
