/* The graph of a capture that is under way can neither be executed nor destroyed. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream stream = new_stream(), other = new_stream();
    aclmdlRI model = NULL;
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclmdlRICaptureGetInfo(stream, NULL, &model), 0);
    SAY(aclmdlRIExecuteAsync(model, other), ACL_ERROR_RT_MODEL_CAPTURED);
    SAY(aclmdlRIDestroy(model), ACL_ERROR_RT_MODEL_CAPTURED);
    SAY(aclmdlRICaptureToModelRIBegin(other, model, GLOBAL), ACL_ERROR_RT_PARAM_INVALID);
    end_well(stream, 0);
    SAY(aclmdlRIExecuteAsync(model, other), 0);
    return finish();
}
