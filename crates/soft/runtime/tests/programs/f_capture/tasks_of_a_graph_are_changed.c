/* SOFTACL: graph_updates */
/* New parameters and disabled kernels hold from the next update of the graph on. */
#include "../capture.h"

int main(void)
{
    aclrtStream hidden;
    aclmdlRITask tasks[3];
    uint32_t one = 1, count = 3;
    aclmdlRITaskParams params;
    start();
    aclrtStream stream = new_stream();
    aclrtFuncHandle add = kernel(load_kernels(), "add");
    uint64_t *a = new_word(0), *b = new_word(0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(launch(add, a, 1, stream), 0);
    SAY(launch(add, a, 10, stream), 0);
    set_word(b, 5, stream);
    aclmdlRI model = end_well(stream, 3);
    SAY(aclmdlRIGetStreams(model, &hidden, &one), 0);
    SAY(aclmdlRIGetTasksByStream(hidden, tasks, &count), 0);
    struct word_args args = {a, 100};
    SAY(aclmdlRITaskGetParams(tasks[0], &params), 0);
    params.kernelTaskParams.args = &args;
    params.kernelTaskParams.isHostArgs = 1;
    SAY(aclmdlRITaskSetParams(tasks[0], &params), 0);
    SAY(aclmdlRITaskSetParams(tasks[2], &params), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRITaskGetParams(tasks[2], &params), 0);
    params.valueWriteTaskParams.value = 6;
    SAY(aclmdlRITaskSetParams(tasks[2], &params), 0);
    SAY(aclmdlRITaskDisable(tasks[1]), 0);
    SAY(aclmdlRITaskDisable(tasks[2]), ACL_ERROR_RT_PARAM_INVALID);
    /* Not while it is executed. */
    struct gate gate = {0, 0};
    SAY(aclrtLaunchHostFunc(stream, wait_at_gate, &gate), 0);
    SAY(aclmdlRIExecuteAsync(model, stream), 0);
    SAY(aclmdlRITaskSetParams(tasks[2], &params), ACL_ERROR_RT_MODEL_UPDATE_FAILED);
    SAY(aclmdlRITaskDisable(tasks[1]), ACL_ERROR_RT_MODEL_UPDATE_FAILED);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(stream));
    EXPECT(*a, 11);
    EXPECT(*b, 5);
    SAY(aclmdlRIUpdate(model), 0);
    run(model, stream);
    EXPECT(*a, 111);
    EXPECT(*b, 6);
    return finish();
}
