/* What versions of the documents describe differently, but no sample relies on, is the same in both
   modes. */
#include "../check.h"

int main(void)
{
    aclrtEvent never, early, late, pending, held;
    aclrtStream first, second;
    float forward = 0, back = 0;
    char host[8] = {0};
    void *device, *pinned;
    struct gate gate = {0, 0};
    start();
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtMalloc(&device, 8, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&pinned, 8));

    /* Waits before the first record: only events that hold an id know them. */
    OK(aclrtCreateEvent(&never));
    EXPECT(aclrtStreamWaitEvent(first, never), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtCreateEventWithFlag(&held, ACL_EVENT_SYNC));
    OK(aclrtStreamWaitEvent(first, held));
    OK(aclrtRecordEvent(held, second));
    OK(aclrtSynchronizeStream(first));
    EXPECT(aclrtCreateEventWithFlag(&late, 0), ACL_ERROR_RT_PARAM_INVALID);

    /* Times have no order, and may come from two streams. */
    OK(aclrtCreateEvent(&early));
    OK(aclrtCreateEvent(&late));
    OK(aclrtRecordEvent(early, first));
    OK(aclrtSynchronizeStream(first));
    OK(aclrtRecordEvent(late, second));
    OK(aclrtSynchronizeStream(second));
    OK(aclrtEventElapsedTime(&forward, early, late));
    OK(aclrtEventElapsedTime(&back, late, early));
    TRUE(forward > 0 && back == -forward);

    /* An event may go while its work is pending. */
    OK(aclrtCreateEvent(&pending));
    OK(aclrtLaunchHostFunc(first, wait_at_gate, &gate));
    OK(aclrtRecordEvent(pending, first));
    OK(aclrtStreamWaitEvent(second, pending));
    OK(aclrtDestroyEvent(pending));
    open_gate(&gate);
    OK(aclrtSynchronizeStream(second));

    OK(aclrtMemcpy(device, 8, host, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT(aclrtMemcpyAsync(pinned, 8, host, 8, ACL_MEMCPY_HOST_TO_HOST, first),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtSynchronizeStreamWithTimeout(first, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtSynchronizeEventWithTimeout(late, 0), ACL_ERROR_RT_PARAM_INVALID);

    /* A stream may go with work in it. */
    OK(aclrtMemcpyAsync(device, 8, pinned, 8, ACL_MEMCPY_HOST_TO_DEVICE, first));
    OK(aclrtDestroyStream(first));
    return finish();
}
