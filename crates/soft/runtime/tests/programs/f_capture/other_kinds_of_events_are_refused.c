/* Held and IPC events cannot be captured; an event without SYNC is accepted and not captured. */
#include "../capture.h"

int main(void)
{
    aclrtEvent held, ipc, timeline;
    float ms;
    start();
    aclrtStream stream = new_stream();
    OK(aclrtCreateEventWithFlag(&held, ACL_EVENT_SYNC));
    OK(aclrtCreateEventExWithFlag(&ipc, ACL_EVENT_IPC));
    OK(aclrtCreateEventExWithFlag(&timeline, ACL_EVENT_TIME_LINE));
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtRecordEvent(held, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtStreamWaitEvent(stream, held), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtResetEvent(held, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtRecordEvent(ipc, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtRecordEvent(timeline, stream), 0);
    aclmdlRI model = end_well(stream, 0);
    run(model, stream);
    SAY(aclrtEventElapsedTime(&ms, timeline, timeline), ACL_ERROR_RT_INTERNAL_ERROR);
    return finish();
}
