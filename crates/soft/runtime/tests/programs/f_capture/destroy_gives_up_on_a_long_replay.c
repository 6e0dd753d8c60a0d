/* SOFTACL: graph_wait_ms=20,graph_updates */
#include "../capture.h"

int main(void)
{
    static struct gate gate;
    start();
    aclrtStream stream = new_stream();
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtLaunchHostFunc(stream, wait_at_gate, &gate), 0);
    aclmdlRI model = end_well(stream, 1);
    SAY(aclmdlRIExecuteAsync(model, stream), 0);
    SAY(aclmdlRIDestroy(model), ACL_ERROR_RT_MODEL_RUNNING);
    SAY(aclmdlRIUpdate(model), ACL_ERROR_RT_MODEL_RUNNING);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(stream));
    SAY(aclmdlRIDestroy(model), 0);
    return finish();
}
