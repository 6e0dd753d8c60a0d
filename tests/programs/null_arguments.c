/* NULL where an answer is to be written, and where a handle is expected. */
#include "program.h"

#define SHOW(call) printf("%s: %d\n", #call, (int)(call))

int main(void)
{
    aclrtStream stream;
    aclrtEvent event;
    float time;

    SHOW(aclrtGetDevice(NULL));
    SHOW(aclInit(NULL));
    SHOW(aclrtGetDeviceCount(NULL));
    SHOW(aclrtSetDevice(0));
    SHOW(aclrtGetDevice(NULL));
    SHOW(aclrtGetRunMode(NULL));
    SHOW(aclrtCreateContext(NULL, 0));
    SHOW(aclrtGetCurrentContext(NULL));
    SHOW(aclrtSetCurrentContext(NULL));
    SHOW(aclrtDestroyContext(NULL));
    SHOW(aclrtCreateStream(NULL));
    SHOW(aclrtCreateStreamWithConfig(NULL, 0, 0));
    SHOW(aclrtCreateStream(&stream));
    SHOW(aclrtStreamGetId(stream, NULL));
    SHOW(aclrtStreamQuery(stream, NULL));
    SHOW(aclrtCtxGetCurrentDefaultStream(NULL));
    SHOW(aclrtCreateEvent(NULL));
    SHOW(aclrtCreateEventWithFlag(NULL, ACL_EVENT_SYNC));
    SHOW(aclrtCreateEventExWithFlag(NULL, ACL_EVENT_SYNC));
    SHOW(aclrtCreateEvent(&event));
    SHOW(aclrtRecordEvent(NULL, stream));
    SHOW(aclrtRecordEvent(event, NULL));
    SHOW(aclrtStreamWaitEvent(stream, NULL));
    SHOW(aclrtResetEvent(NULL, stream));
    SHOW(aclrtSynchronizeEvent(NULL));
    SHOW(aclrtQueryEventStatus(NULL, NULL));
    SHOW(aclrtQueryEventStatus(event, NULL));
    SHOW(aclrtSynchronizeStream(NULL));
    SHOW(aclrtEventElapsedTime(NULL, event, event));
    SHOW(aclrtEventElapsedTime(&time, NULL, NULL));
    SHOW(aclrtEventGetTimestamp(event, NULL));
    SHOW(aclrtDestroyEvent(NULL));
    SHOW(aclrtMalloc(NULL, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    SHOW(aclrtMallocHost(NULL, 4096));
    SHOW(aclrtFree(NULL));
    SHOW(aclrtFreeHost(NULL));
    SHOW(aclrtMemcpy(NULL, 1, NULL, 1, ACL_MEMCPY_HOST_TO_DEVICE));
    SHOW(aclrtMemcpyAsync(NULL, 1, NULL, 1, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    SHOW(aclrtMemset(NULL, 1, 0, 1));
    SHOW(aclrtMemsetAsync(NULL, 1, 0, 1, stream));
    SHOW(aclrtLaunchCallback(NULL, NULL, ACL_CALLBACK_BLOCK, NULL));
    SHOW(aclrtLaunchHostFunc(stream, NULL, NULL));
    SHOW(aclrtPointerGetAttributes(NULL, NULL));
    SHOW(aclrtDestroyStream(stream));
    return 0;
}
