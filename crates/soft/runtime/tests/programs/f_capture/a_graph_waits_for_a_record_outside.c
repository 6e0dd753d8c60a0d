/* An external wait binds a replay to the latest plain record at its submission. */
#include "../capture.h"

int main(void)
{
    static struct gate gate;
    start();
    aclrtStream graph_stream = new_stream(), outside = new_stream();
    aclrtEvent event = new_event();
    uint64_t *a = new_word(0), *b = new_word(0);
    SAY(aclmdlRICaptureBegin(graph_stream, RELAXED), 0);
    SAY(aclrtStreamWaitEventWithFlag(graph_stream, event, 0, ACL_EVENT_WAIT_EXTERNAL), 0);
    copy_word(b, a, graph_stream);
    aclmdlRI model = end_well(graph_stream, 2);
    run(model, graph_stream);
    EXPECT(*b, 0);
    SAY(aclrtLaunchHostFunc(outside, wait_at_gate, &gate), 0);
    set_word(a, 8, outside);
    SAY(aclrtRecordEvent(event, outside), 0);
    SAY(aclmdlRIExecuteAsync(model, graph_stream), 0);
    SAY(aclrtSynchronizeStreamWithTimeout(graph_stream, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(graph_stream));
    EXPECT(*b, 8);
    return finish();
}
