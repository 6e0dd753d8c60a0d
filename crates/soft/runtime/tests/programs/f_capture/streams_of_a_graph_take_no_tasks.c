/* The streams that stand for lanes are known, and belong to the graph. */
#include "../capture.h"

int main(void)
{
    aclrtStream lane = NULL;
    uint32_t count = 1;
    int id = -1;
    start();
    aclrtStream stream = new_stream();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    aclmdlRI model = end_well(stream, 0);
    SAY(aclmdlRIGetStreams(model, &lane, &count), 0);
    TRUE(lane != stream);
    SAY(aclrtStreamGetId(lane, &id), 0);
    TRUE(id >= 0);
    SAY(aclrtValueWrite(word, 1, 0, lane), ACL_ERROR_RT_STREAM_MODEL);
    SAY(aclmdlRICaptureBegin(lane, GLOBAL), ACL_ERROR_RT_STREAM_MODEL);
    SAY(aclmdlRIExecuteAsync(model, lane), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclrtDestroyStream(lane), ACL_ERROR_RT_STREAM_MODEL);
    SAY(aclrtSynchronizeStream(lane), 0);
    SAY(aclmdlRIDestroy(model), 0);
    SAY(aclrtStreamGetId(lane, &id), ACL_ERROR_RT_INVALID_HANDLE);
    return finish();
}
