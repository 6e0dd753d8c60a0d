/* Calls that fail: their codes, and the thread's error state after each of them. */
#include "program.h"

static void show(const char *call, aclError code)
{
    const char *text;

    printf("%s: %d, peek %d", call, (int)code, (int)aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL));
    printf(", last %d", (int)aclrtGetLastError(ACL_RT_THREAD_LEVEL));
    printf(", then %d", (int)aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL));
    text = aclGetRecentErrMsg();
    printf(", says %s\n", text ? text : "nothing");
}

#define SHOW(call) show(#call, (call))

int main(void)
{
    enum { BYTES = 4096 };
    aclrtStream stream;
    aclrtEvent old;
    aclrtEvent event;
    void *pinned;
    void *device;
    void *unused;
    float time = 0;

    SHOW(aclrtCreateStream(&stream));
    SHOW(aclInit(NULL));
    SHOW(aclInit(NULL));
    SHOW(aclrtSetDevice(99));
    SHOW(aclrtSetDevice(0));
    SHOW(aclrtCreateStream(&stream));
    SHOW(aclrtCreateEvent(&old));
    SHOW(aclrtCreateEventExWithFlag(&event, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC));
    SHOW(aclrtMallocHost(&pinned, BYTES));
    SHOW(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    SHOW(aclrtMalloc(&unused, 0, ACL_MEM_MALLOC_HUGE_FIRST));

    SHOW(aclrtStreamWaitEvent(stream, old));
    SHOW(aclrtEventElapsedTime(&time, event, event));
    SHOW(aclrtMemcpyAsync(device, 1, pinned, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    SHOW(aclrtMemsetAsync(device, BYTES, 0, BYTES + 1, stream));
    SHOW(aclrtMemcpy(device, 1, pinned, BYTES, ACL_MEMCPY_HOST_TO_DEVICE));
    SHOW(aclrtLaunchCallback(NULL, NULL, ACL_CALLBACK_BLOCK, stream));
    SHOW(aclrtProcessReport(0));
    SHOW(aclrtProcessReport(1));
    SHOW(aclrtSynchronizeStreamWithTimeout(stream, 0));
    /* Between two failures a success, measured or not, leaves the state alone. */
    aclrtMemsetAsync(device, BYTES, 0, BYTES + 1, stream);
    SHOW(aclrtMemsetAsync(device, BYTES, 0, BYTES, stream));
    SHOW(aclrtSynchronizeStream(stream));
    SHOW(aclrtRecordEvent(event, stream));
    SHOW(aclrtSynchronizeEvent(event));

    SHOW(aclrtDestroyStream(NULL));
    SHOW(aclrtDestroyStream(stream));
    SHOW(aclrtSynchronizeStream(stream));
    SHOW(aclrtMemsetAsync(device, BYTES, 0, BYTES, stream));
    SHOW(aclrtResetDevice(1));
    SHOW(aclrtResetDevice(0));
    SHOW(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    SHOW(aclFinalize());
    SHOW(aclFinalize());

    /* A runtime that goes down with everything still in use. */
    SHOW(aclInit(NULL));
    SHOW(aclrtSetDevice(0));
    SHOW(aclrtCreateStream(&stream));
    SHOW(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    SHOW(aclrtMemsetAsync(device, BYTES, 0, BYTES, stream));
    SHOW(aclFinalize());
    SHOW(aclrtMemsetAsync(device, BYTES, 0, BYTES, stream));
    SHOW(aclrtSynchronizeStream(stream));
    return 0;
}
