/* An event that holds its id can be waited for before it is recorded. */
#include "../check.h"

int main(void)
{
    aclrtEvent event;
    aclrtStream waiting, recording;
    aclrtStreamStatus state;
    start();
    OK(aclrtCreateStream(&waiting));
    OK(aclrtCreateStream(&recording));
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtStreamWaitEvent(waiting, event));
    EXPECT(aclrtSynchronizeStreamWithTimeout(waiting, 30), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    OK(aclrtRecordEvent(event, recording));
    OK(aclrtSynchronizeStream(waiting));
    OK(aclrtStreamQuery(waiting, &state));
    EXPECT(state, ACL_STREAM_STATUS_COMPLETE);
    OK(aclrtResetEvent(event, waiting));
    OK(aclrtStreamWaitEvent(waiting, event));
    EXPECT(aclrtSynchronizeStreamWithTimeout(waiting, 30), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    OK(aclrtRecordEvent(event, recording));
    OK(aclrtSynchronizeStream(waiting));
    return finish();
}
