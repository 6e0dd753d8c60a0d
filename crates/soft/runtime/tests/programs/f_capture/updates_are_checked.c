/* An update has as many kernels as its group, on a stream that captures nothing, one at a time. */
#include "../capture.h"

int main(void)
{
    aclrtTaskGrp group = NULL;
    start();
    aclrtStream stream = new_stream(), updates = new_stream();
    aclrtFuncHandle set = kernel(load_kernels(), "set");
    aclrtEvent event = new_event();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclmdlRICaptureTaskGrpBegin(stream), 0);
    SAY(launch(set, word, 1, stream), 0);
    SAY(aclmdlRICaptureTaskGrpEnd(stream, &group), 0);
    SAY(aclmdlRICaptureTaskUpdateBegin(stream, group), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclmdlRICaptureTaskUpdateEnd(stream), ACL_ERROR_RT_STREAM_CAPTURED);
    aclmdlRI model = end_well(stream, 1);
    SAY(aclmdlRICaptureTaskUpdateEnd(updates), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
    SAY(aclmdlRICaptureTaskUpdateBegin(updates, NULL), ACL_ERROR_INVALID_PARAM);
    SAY(aclmdlRICaptureTaskUpdateBegin(updates, group), 0);
    SAY(aclmdlRICaptureTaskUpdateBegin(updates, group), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
    SAY(aclmdlRICaptureTaskUpdateBegin(stream, group), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
    SAY(aclmdlRICaptureBegin(updates, GLOBAL), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
    SAY(aclmdlRICaptureTaskUpdateEnd(updates), ACL_ERROR_RT_INTERNAL_ERROR);
    /* A stream whose update failed begins no other one. */
    SAY(aclmdlRICaptureTaskUpdateBegin(updates, group), ACL_ERROR_RT_STREAM_CAPTURED);
    updates = new_stream();
    SAY(aclmdlRICaptureTaskUpdateBegin(updates, group), 0);
    SAY(launch(set, word, 2, updates), 0);
    SAY(launch(set, word, 3, updates), ACL_ERROR_RT_INTERNAL_ERROR);
    SAY(aclmdlRICaptureTaskUpdateEnd(updates), ACL_ERROR_RT_INTERNAL_ERROR);
    updates = new_stream();
    SAY(aclmdlRICaptureTaskUpdateBegin(updates, group), 0);
    SAY(aclrtRecordEvent(event, updates), ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT);
    SAY(launch(set, word, 4, updates), 0);
    SAY(aclmdlRICaptureTaskUpdateEnd(updates), ACL_ERROR_RT_INTERNAL_ERROR);
    run(model, stream);
    EXPECT(*word, 1);
    SAY(aclmdlRIDestroy(model), 0);
    updates = new_stream();
    SAY(aclmdlRICaptureTaskUpdateBegin(updates, group), ACL_ERROR_RT_INVALID_HANDLE);
    return finish();
}
