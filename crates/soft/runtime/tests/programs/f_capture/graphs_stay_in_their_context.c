/* A graph is executed and destroyed in the context that it was captured in. */
#include "../capture.h"

int main(void)
{
    aclrtContext own, other;
    start();
    aclrtStream stream = new_stream();
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    aclmdlRI model = end_well(stream, 0);
    OK(aclrtGetCurrentContext(&own));
    OK(aclrtCreateContext(&other, 0));
    aclrtStream foreign = new_stream();
    SAY(aclmdlRIExecuteAsync(model, foreign), ACL_ERROR_RT_MODEL_CONTEXT);
    SAY(aclmdlRIDestroy(model), ACL_ERROR_RT_MODEL_CONTEXT);
    OK(aclrtSetCurrentContext(own));
    SAY(aclmdlRIDestroy(model), 0);
    return finish();
}
