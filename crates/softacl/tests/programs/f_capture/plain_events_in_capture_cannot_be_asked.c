/* The same for the queries that only older kinds of events have. */
#include "../capture.h"

int main(void)
{
    aclrtEvent event;
    aclrtEventStatus status;
    aclrtEventWaitStatus waited;
    start();
    aclrtStream stream = new_stream();
    OK(aclrtCreateEvent(&event));
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtRecordEvent(event, stream), 0);
    SAY(aclrtQueryEvent(event, &status), ACL_ERROR_RT_EVENT_CAPTURED);
    SAY(aclrtQueryEventWaitStatus(event, &waited), ACL_ERROR_RT_EVENT_CAPTURED);
    end_well(stream, 1);
    SAY(aclrtQueryEventWaitStatus(event, &waited), 0);
    EXPECT(waited, ACL_EVENT_WAIT_STATUS_COMPLETE);
    return finish();
}
