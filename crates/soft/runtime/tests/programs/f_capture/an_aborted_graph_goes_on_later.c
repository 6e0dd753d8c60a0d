/* An abort throws away the replays that were submitted before it. The stream and the graph go on. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream stream = new_stream(), other = new_stream();
    uint64_t *a = new_word(0), *b = new_word(0), *wait = new_word(0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtValueWait(wait, 1, ACL_STREAM_WAIT_VALUE_EQ, stream), 0);
    set_word(a, 1, stream);
    aclmdlRI model = end_well(stream, 2);
    SAY(aclmdlRIAbort(model), 0);
    SAY(aclmdlRIExecuteAsync(model, stream), 0);
    SAY(aclmdlRIExecuteAsync(model, other), 0);
    SAY(aclmdlRIExecuteAsync(model, stream), 0);
    set_word(b, 2, stream);
    SAY(aclrtSynchronizeStreamWithTimeout(stream, 30), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    SAY(aclmdlRIAbort(model), 0);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtSynchronizeStream(other));
    EXPECT(*a, 0);
    EXPECT(*b, 2);
    *wait = 1;
    run(model, stream);
    EXPECT(*a, 1);
    SAY(aclmdlRIDestroy(model), 0);
    return finish();
}
