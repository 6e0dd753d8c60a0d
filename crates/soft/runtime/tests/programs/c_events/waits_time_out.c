/* A wait with a timeout gives up, and the next synchronisation says so. */
#include "../check.h"

int main(void)
{
    aclrtEvent event;
    aclrtStream first, second;
    struct gate gate = {0, 0};
    uint64_t begin;
    start();
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtLaunchHostFunc(first, wait_at_gate, &gate));
    OK(aclrtRecordEvent(event, first));
    EXPECT(aclrtStreamWaitEventWithTimeout(second, event, -1), ACL_ERROR_RT_PARAM_INVALID);
    begin = host_ns();
    OK(aclrtStreamWaitEventWithTimeout(second, event, 1));
    EXPECT(aclrtSynchronizeStream(second), ACL_ERROR_RT_WAIT_TIMEOUT);
    TRUE(host_ns() - begin >= 1000000000u);
    OK(aclrtSynchronizeStream(second));
    EXPECT(aclrtSynchronizeEventWithTimeout(event, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtSynchronizeEventWithTimeout(event, 20), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
    open_gate(&gate);
    OK(aclrtSynchronizeEventWithTimeout(event, -1));
    EXPECT(aclrtRecordEventWithFlag(event, first, ACL_EVENT_RECORD_EXTERNAL),
           ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtRecordEventWithFlag(event, first, ACL_EVENT_RECORD_DEFAULT));
    OK(aclrtStreamWaitEventWithFlag(second, event, 0, ACL_EVENT_WAIT_DEFAULT));
    OK(aclrtSynchronizeStream(second));
    return finish();
}
