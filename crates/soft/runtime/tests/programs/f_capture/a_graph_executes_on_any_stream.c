/* On the stream that captured it, on another one, on the default stream, and synchronously. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream stream = new_stream(), other = new_stream();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtLaunchHostFunc(stream, add_one, word), 0);
    aclmdlRI model = end_well(stream, 1);
    run(model, stream);
    run(model, other);
    run(model, NULL);
    EXPECT(*word, 3);
    SAY(aclmdlRIExecute(model, -1), 0);
    SAY(aclmdlRIExecute(model, 1000), 0);
    EXPECT(*word, 5);
    SAY(aclmdlRIExecute(model, 0), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRIExecute(NULL, 1), ACL_ERROR_INVALID_PARAM);
    SAY(aclmdlRIExecuteAsync(NULL, stream), ACL_ERROR_INVALID_PARAM);
    OK(aclrtDestroyStream(stream));
    run(model, other);
    EXPECT(*word, 6);
    return finish();
}
