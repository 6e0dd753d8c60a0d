/* An external record is the event's latest from the submission of the replay on. */
#include "../capture.h"

int main(void)
{
    static struct gate gate, rest;
    aclrtEventRecordedStatus status;
    start();
    aclrtStream graph_stream = new_stream(), outside = new_stream();
    aclrtEvent event = new_event();
    uint64_t *a = new_word(0), *b = new_word(0);
    SAY(aclmdlRICaptureBegin(graph_stream, RELAXED), 0);
    SAY(aclrtLaunchHostFunc(graph_stream, wait_at_gate, &gate), 0);
    set_word(a, 6, graph_stream);
    SAY(aclrtRecordEventWithFlag(event, graph_stream, ACL_EVENT_RECORD_EXTERNAL), 0);
    SAY(aclrtLaunchHostFunc(graph_stream, wait_at_gate, &rest), 0);
    aclmdlRI model = end_well(graph_stream, 4);
    SAY(aclmdlRIExecuteAsync(model, graph_stream), 0);
    SAY(aclrtStreamWaitEvent(outside, event), 0);
    copy_word(b, a, outside);
    SAY(aclrtQueryEventStatus(event, &status), 0);
    EXPECT(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(outside));
    EXPECT(*b, 6);
    EXPECT(rest.open, 0);
    open_gate(&rest);
    OK(aclrtSynchronizeStream(graph_stream));
    return finish();
}
