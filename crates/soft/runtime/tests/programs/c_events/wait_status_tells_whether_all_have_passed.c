/* QueryEventWaitStatus is complete when every wait was passed. */
#include "../check.h"

int main(void)
{
    aclrtEvent event;
    aclrtStream first, second;
    aclrtEventWaitStatus status = ACL_EVENT_WAIT_STATUS_RESERVED;
    aclrtEventStatus query = ACL_EVENT_STATUS_RESERVED;
    struct gate gate = {0, 0};
    start();
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtLaunchHostFunc(first, wait_at_gate, &gate));
    OK(aclrtRecordEvent(event, first));
    OK(aclrtStreamWaitEvent(second, event));
    OK(aclrtQueryEventWaitStatus(event, &status));
    EXPECT(status, ACL_EVENT_WAIT_STATUS_NOT_READY);
    OK(aclrtQueryEvent(event, &query));
    EXPECT(query, ACL_EVENT_STATUS_NOT_READY);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(second));
    OK(aclrtQueryEventWaitStatus(event, &status));
    EXPECT(status, ACL_EVENT_WAIT_STATUS_COMPLETE);
    OK(aclrtQueryEvent(event, &query));
    EXPECT(query, ACL_EVENT_STATUS_COMPLETE);
    OK(aclrtResetEvent(event, second));
    OK(aclrtSynchronizeStream(second));
    return finish();
}
