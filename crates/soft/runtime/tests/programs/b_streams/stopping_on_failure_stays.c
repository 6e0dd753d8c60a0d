/* A stream that stops on failure stays so; stopping holds for the whole context. */
#include "../check.h"

int main(void)
{
    aclrtStream stream, other, waiting;
    aclrtEvent event;
    aclrtStreamAttrValue value;
    struct gate gate = {0, 0};
    int calls = 0;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    OK(aclrtCreateStream(&waiting));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtSetStreamFailureMode(stream, 2));
    OK(aclrtGetStreamAttribute(other, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    EXPECT(value.failureMode, ACL_CONTINUE_ON_FAILURE);
    OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    EXPECT(aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    OK(aclrtSetStreamFailureMode(NULL, ACL_STOP_ON_FAILURE));
    OK(aclrtGetStreamAttribute(other, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    EXPECT(value.failureMode, ACL_STOP_ON_FAILURE);
    OK(aclrtLaunchHostFunc(other, wait_at_gate, &gate));
    OK(aclrtRecordEvent(event, other));
    OK(aclrtStreamWaitEventWithTimeout(waiting, event, 1));
    EXPECT(aclrtSynchronizeStream(waiting), ACL_ERROR_RT_WAIT_TIMEOUT);
    EXPECT(aclrtLaunchHostFunc(stream, count_call, &calls), ACL_ERROR_RT_WAIT_TIMEOUT);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(other));
    EXPECT(calls, 0);
    return finish();
}
