/* Streams are bound, their tasks are kept, and the graph is executed when it is complete. */
#include "../capture.h"

int main(void)
{
    aclmdlRI model = NULL;
    aclrtStream bound;
    start();
    aclrtStream stream = new_stream();
    uint64_t *word = new_word(0);
    OK(aclrtCreateStreamWithConfig(&bound, 0, ACL_STREAM_PERSISTENT));
    SAY(aclmdlRIBuildBegin(&model, 0), 0);
    SAY(aclmdlRIBindStream(model, bound, ACL_MODEL_STREAM_FLAG_HEAD), 0);
    SAY(aclrtLaunchHostFunc(bound, add_one, word), 0);
    SAY(aclrtLaunchHostFunc(bound, add_one, word), 0);
    SAY(aclmdlRIEndTask(model, bound), 0);
    SAY(aclmdlRIExecuteAsync(model, stream), ACL_ERROR_RT_MODEL_EXECUTE);
    SAY(aclmdlRIBuildEnd(model, NULL), 0);
    EXPECT(*word, 0);
    EXPECT(show(model), 3);
    SAY(aclmdlRIExecute(model, -1), 0);
    EXPECT(*word, 2);
    run(model, stream);
    EXPECT(*word, 4);
    SAY(aclmdlRIExecuteAsync(model, bound), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRIUnbindStream(model, bound), 0);
    SAY(aclmdlRIUnbindStream(model, bound), ACL_ERROR_RT_STREAM_MODEL);
    SAY(aclmdlRIDestroy(model), 0);
    SAY(aclrtDestroyStream(bound), 0);
    return finish();
}
