/* A stream can wait for an event of another device. */
#include "../check.h"

int main(void)
{
    aclrtEvent event;
    aclrtStream first, second;
    aclrtContext zero, one;
    struct gate gate = {0, 0};
    start();
    OK(aclrtGetCurrentContext(&zero));
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtLaunchHostFunc(first, wait_at_gate, &gate));
    OK(aclrtRecordEvent(event, first));
    OK(aclrtSetDevice(1));
    OK(aclrtGetCurrentContext(&one));
    OK(aclrtCreateStream(&second));
    OK(aclrtStreamWaitEvent(second, event));
    EXPECT(aclrtSynchronizeStreamWithTimeout(second, 30), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(second));
    EXPECT(aclrtRecordEvent(event, first), ACL_ERROR_RT_STREAM_CONTEXT);
    OK(aclrtSetCurrentContext(zero));
    OK(aclrtRecordEvent(event, first));
    return finish();
}
