/* errno is the program's own: calls that succeed and calls that fail leave it as it was. */
#include "program.h"

#define KEPT(call) (errno = 4321, code = (call), printf("%s: %d, errno %d\n", #call, (int)code, errno))

int main(void)
{
    aclrtStream stream;
    aclrtEvent event;
    void *host;
    void *device;
    int32_t number;
    int code;
    aclrtStreamStatus status;

    KEPT(aclInit(NULL));
    KEPT(aclrtSetDevice(0));
    KEPT(aclrtSetDevice(77));
    KEPT(aclrtGetDevice(&number));
    KEPT(aclrtCreateStream(&stream));
    KEPT(aclrtCreateEvent(&event));
    KEPT(aclrtMallocHost(&host, 4096));
    KEPT(aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < 50; i++) {
        KEPT(aclrtMemcpyAsync(device, 4096, host, 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        KEPT(aclrtRecordEvent(event, stream));
        KEPT(aclrtStreamWaitEvent(stream, event));
        /* A runtime that has to sleep may itself touch errno. */
        do {
            usleep(20);
            DO(aclrtStreamQuery(stream, &status));
        } while (status != ACL_STREAM_STATUS_COMPLETE);
        KEPT(aclrtSynchronizeStream(stream));
    }
    KEPT(aclrtMemcpyAsync(device, 1, host, 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    KEPT(aclrtDestroyEvent(event));
    KEPT(aclrtDestroyStream(stream));
    KEPT(aclrtResetDevice(0));
    KEPT(aclFinalize());
    return 0;
}
