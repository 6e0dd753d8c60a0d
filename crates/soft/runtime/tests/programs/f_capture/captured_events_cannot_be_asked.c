/* The host can neither query nor wait for an event whose record is captured; others it can. */
#include "../capture.h"

int main(void)
{
    aclrtEvent event, other;
    aclrtEventRecordedStatus recorded;
    float ms;
    uint64_t time;
    start();
    aclrtStream stream = new_stream(), outside = new_stream();
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventExWithFlag(&other, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtRecordEvent(event, stream), 0);
    SAY(aclrtRecordEvent(other, outside), 0);
    SAY(aclrtQueryEventStatus(event, &recorded), ACL_ERROR_RT_EVENT_CAPTURED);
    SAY(aclrtSynchronizeEvent(event), ACL_ERROR_RT_EVENT_CAPTURED);
    SAY(aclrtSynchronizeEventWithTimeout(event, 5), ACL_ERROR_RT_EVENT_CAPTURED);
    SAY(aclrtEventElapsedTime(&ms, event, event), ACL_ERROR_RT_EVENT_CAPTURED);
    SAY(aclrtEventGetTimestamp(event, &time), ACL_ERROR_RT_EVENT_CAPTURED);
    SAY(aclrtSynchronizeEvent(other), 0);
    SAY(aclrtEventElapsedTime(&ms, other, other), 0);
    SAY(aclrtQueryEventStatus(other, &recorded), 0);
    end_well(stream, 1);
    SAY(aclrtQueryEventStatus(event, &recorded), 0);
    EXPECT(recorded, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    SAY(aclrtEventElapsedTime(&ms, event, event), ACL_ERROR_RT_INTERNAL_ERROR);
    return finish();
}
