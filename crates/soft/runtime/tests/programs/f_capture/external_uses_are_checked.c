/* SOFTACL: strict */
#include "../capture.h"

/* External records and waits: in captures only, events with SYNC only, once per graph, no mixing. */
int main(void)
{
    aclrtEvent timed;
    start();
    aclrtStream stream = new_stream();
    aclrtEvent event = new_event(), plain = new_event();
    OK(aclrtCreateEventExWithFlag(&timed, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    SAY(aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclrtRecordEventWithFlag(event, stream, 2), ACL_ERROR_INVALID_PARAM);
    SAY(aclrtStreamWaitEventWithFlag(stream, event, 0, 2), ACL_ERROR_INVALID_PARAM);
    SAY(aclrtRecordEventWithFlag(plain, stream, 0), 0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtRecordEventWithFlag(timed, stream, ACL_EVENT_RECORD_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclrtRecordEventWithFlag(plain, stream, ACL_EVENT_RECORD_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclrtStreamWaitEventWithFlag(stream, event, 1, ACL_EVENT_WAIT_EXTERNAL), ACL_ERROR_INVALID_PARAM);
    SAY(aclrtStreamWaitEventWithFlag(stream, event, (uint32_t)-1, ACL_EVENT_WAIT_EXTERNAL), ACL_ERROR_INVALID_PARAM);
    SAY(aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_EXTERNAL), 0);
    SAY(aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclrtStreamWaitEventWithFlag(stream, event, 0, ACL_EVENT_WAIT_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclrtRecordEvent(event, stream), ACL_ERROR_RT_PARAM_INVALID);
    end_well(stream, 1);
    return finish();
}
