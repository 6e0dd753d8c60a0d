/* What can be bound, when tasks can be added, and what a graph by hand cannot be. */
#include "../capture.h"

int main(void)
{
    aclmdlRI model = NULL, other = NULL;
    aclrtStream bound;
    start();
    aclrtStream stream = new_stream();
    uint64_t *word = new_word(0);
    OK(aclrtCreateStreamWithConfig(&bound, 0, ACL_STREAM_PERSISTENT));
    SAY(aclmdlRIBuildBegin(&model, 1), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRIBuildBegin(NULL, 0), ACL_ERROR_INVALID_PARAM);
    SAY(aclmdlRIBuildBegin(&model, 0), 0);
    SAY(aclmdlRIBuildBegin(&other, 0), 0);
    SAY(aclmdlRIBuildEnd(model, NULL), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRIBindStream(model, stream, 0), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRIBindStream(model, NULL, 0), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRIBindStream(model, bound, 5), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRIBindStream(model, bound, 0), 0);
    SAY(aclmdlRIBindStream(other, bound, 0), ACL_ERROR_RT_STREAM_MODEL);
    SAY(aclmdlRIEndTask(other, bound), ACL_ERROR_RT_STREAM_MODEL);
    SAY(aclmdlRICaptureBegin(bound, GLOBAL), ACL_ERROR_RT_STREAM_MODEL);
    set_word(word, 1, bound);
    SAY(aclmdlRIBuildEnd(model, NULL), 0);
    SAY(aclmdlRIBuildEnd(model, NULL), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRICaptureToModelRIBegin(stream, model, GLOBAL), ACL_ERROR_RT_PARAM_INVALID);
    run(model, stream);
    EXPECT(*word, 1);
    SAY(aclmdlRIDestroy(other), 0);
    SAY(aclmdlRIDestroy(model), 0);
    return finish();
}
