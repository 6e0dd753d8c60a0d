/* A wait belongs to the record that was latest when it was issued; recording again does not move it. */
#include "../check.h"

int main(void)
{
    aclrtEvent event;
    aclrtStream first, second, waiting;
    struct gate early = {0, 0}, late = {0, 0};
    aclrtEventRecordedStatus status;
    start();
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtCreateStream(&waiting));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtLaunchHostFunc(first, wait_at_gate, &early));
    OK(aclrtRecordEvent(event, first));
    OK(aclrtStreamWaitEvent(waiting, event));
    aclrtContext context;
    OK(aclrtCreateContext(&context, 0));
    aclrtContext own;
    OK(aclrtGetCurrentContext(&own));
    TRUE(own == context);
    aclrtStream apart;
    OK(aclrtCreateStream(&apart));
    OK(aclrtLaunchHostFunc(apart, wait_at_gate, &late));
    OK(aclrtRecordEvent(event, apart));
    open_gate(&early);
    OK(aclrtSynchronizeStream(waiting));
    EXPECT(late.open, 0);
    OK(aclrtQueryEventStatus(event, &status));
    EXPECT(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    EXPECT(aclrtSynchronizeEventWithTimeout(event, 20), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
    open_gate(&late);
    OK(aclrtSynchronizeEvent(event));
    OK(aclrtQueryEventStatus(event, &status));
    EXPECT(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    return finish();
}
