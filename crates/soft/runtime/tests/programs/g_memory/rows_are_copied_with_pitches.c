/* 2D copies move rows and leave the rest alone. */
#include "../check.h"

int main(void)
{
    enum { WIDTH = 10, ROWS = 7, PITCH = 16 };
    unsigned char *host, *back;
    void *device;
    aclrtStream stream;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMallocHost((void **)&host, PITCH * ROWS));
    OK(aclrtMallocHost((void **)&back, PITCH * ROWS));
    OK(aclrtMalloc(&device, WIDTH * ROWS, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < PITCH * ROWS; i++) {
        host[i] = (unsigned char)i;
        back[i] = 0xff;
    }
    OK(aclrtMemcpy2d(device, WIDTH, host, PITCH, WIDTH, ROWS, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy2dAsync(back, PITCH, device, WIDTH, WIDTH, ROWS, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtSynchronizeStream(stream));
    int wrong = 0;
    for (int row = 0; row < ROWS; row++) {
        for (int column = 0; column < PITCH; column++) {
            int expected = column < WIDTH ? host[row * PITCH + column] : 0xff;
            wrong += back[row * PITCH + column] != expected;
        }
    }
    EXPECT(wrong, 0);
    EXPECT(aclrtMemcpy2d(device, WIDTH, host, PITCH, WIDTH + 1, ROWS, ACL_MEMCPY_HOST_TO_DEVICE),
           ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemcpy2d(device, WIDTH, host, PITCH, WIDTH, ROWS + 1, ACL_MEMCPY_HOST_TO_DEVICE),
           ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtMemcpy2d(device, WIDTH, host, PITCH, WIDTH, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy2dAsync(NULL, 0, NULL, 0, 0, ROWS, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    return finish();
}
