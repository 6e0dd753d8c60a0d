/* Asynchronous copies of memory that is not pinned: the runtime copies before it returns. */
#include "program.h"

enum { BYTES = 1 << 16, ROUNDS = 4 };

int main(void)
{
    static char plain[BYTES];
    aclrtStream stream;
    void *pinned;
    void *device;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMallocHost(&pinned, BYTES));
    DO(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int round = 0; round < ROUNDS; round++) {
        memset(plain, round + 1, BYTES);
        DO(aclrtMemcpyAsync(device, BYTES, plain, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        memset(plain, 0, BYTES);
        DO(aclrtMemcpyAsync(plain, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        printf("round %d: %d\n", round, plain[BYTES - 1]);
        DO(aclrtMemcpyAsync(pinned, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        DO(aclrtSynchronizeStream(stream));
    }
    return 0;
}
