/* ACL_EVENT_EXTERNAL: a replay may wait for a record that comes after its submission. */
#include "../capture.h"

int main(void)
{
    aclrtEvent event;
    start();
    aclrtStream graph_stream = new_stream(), outside = new_stream();
    uint64_t *a = new_word(0), *b = new_word(0);
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_EXTERNAL));
    SAY(aclmdlRICaptureBegin(graph_stream, GLOBAL), 0);
    SAY(aclrtStreamWaitEvent(graph_stream, event), 0);
    SAY(aclrtResetEvent(event, graph_stream), 0);
    copy_word(b, a, graph_stream);
    aclmdlRI model = end_well(graph_stream, 2);
    for (int i = 1; i <= 3; i++) {
        SAY(aclmdlRIExecuteAsync(model, graph_stream), 0);
        SAY(aclrtSynchronizeStreamWithTimeout(graph_stream, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        set_word(a, (uint64_t)i, outside);
        SAY(aclrtRecordEvent(event, outside), 0);
        OK(aclrtSynchronizeStream(graph_stream));
        EXPECT(*b, i);
    }
    return finish();
}
