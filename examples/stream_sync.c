/* The host waits for a stream: copy in, fill, copy out, and only then look at the result. */
#include <string.h>

#include "count.h"

enum { BYTES = 64 << 10 };

int main(void)
{
    aclrtStream stream;
    void *host;
    void *device;
    int filled = 0;

    CALL(aclInit(NULL));
    CALL(aclrtSetDevice(0));
    CALL(aclrtCreateStream(&stream));
    CALL(aclrtMallocHost(&host, BYTES));
    CALL(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    memset(host, 1, BYTES);

    TASK(aclrtMemcpyAsync(device, BYTES, host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    TASK(aclrtMemsetAsync(device, BYTES, 7, BYTES / 2, stream));
    TASK(aclrtMemcpyAsync(host, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    CALL(aclrtSynchronizeStream(stream));

    for (int i = 0; i < BYTES; i++) {
        filled += ((unsigned char *)host)[i] == 7;
    }
    printf("%d of %d bytes were filled on the device\n", filled, BYTES);

    CALL(aclrtFree(device));
    CALL(aclrtFreeHost(host));
    CALL(aclrtDestroyStream(stream));
    CALL(aclrtResetDevice(0));
    CALL(aclFinalize());
    return report_counts();
}
