/* The pattern of serving: replay first, then update, then an external event lets the replay go on. */
#include "../capture.h"

int main(void)
{
    aclrtTaskGrp group = NULL;
    aclrtEvent event;
    start();
    aclrtStream stream = new_stream(), updates = new_stream();
    aclrtFuncHandle set = kernel(load_kernels(), "set");
    uint64_t *word = new_word(0);
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_EXTERNAL));
    SAY(aclmdlRICaptureBegin(stream, RELAXED), 0);
    SAY(aclrtStreamWaitEvent(stream, event), 0);
    SAY(aclrtResetEvent(event, stream), 0);
    SAY(aclmdlRICaptureTaskGrpBegin(stream), 0);
    SAY(launch(set, word, 1, stream), 0);
    SAY(aclmdlRICaptureTaskGrpEnd(stream, &group), 0);
    aclmdlRI model = end_well(stream, 2);
    for (uint64_t i = 5; i < 9; i++) {
        SAY(aclmdlRIExecuteAsync(model, stream), 0);
        SAY(aclmdlRICaptureTaskUpdateBegin(updates, group), 0);
        SAY(launch(set, word, i, updates), 0);
        SAY(aclmdlRICaptureTaskUpdateEnd(updates), 0);
        SAY(aclrtRecordEvent(event, updates), 0);
        OK(aclrtSynchronizeStream(stream));
        EXPECT(*word, i);
    }
    return finish();
}
