/* Streams, tasks, their types, numbers and parameters. */
#include "../capture.h"

int main(void)
{
    aclrtStream streams[4];
    aclmdlRITask tasks[8];
    uint32_t count = 0, id = 99;
    aclmdlRITaskType type;
    aclmdlRITaskParams params;
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    aclrtFuncHandle set = kernel(load_kernels(), "set");
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    SAY(launch(set, word, 1, s1), 0);
    wait_for(s1, fork, s2);
    set_word(word, 2, s2);
    SAY(aclrtValueWait(word, 2, 1, s2), 0);
    wait_for(s2, join, s1);
    aclmdlRI model = end_well(s1, 7);
    SAY(aclmdlRIGetStreams(model, NULL, &count), 0);
    EXPECT(count, 2);
    count = 1;
    SAY(aclmdlRIGetStreams(model, streams, &count), ACL_ERROR_RT_PARAM_INVALID);
    count = 4;
    SAY(aclmdlRIGetStreams(model, streams, &count), 0);
    EXPECT(count, 2);
    /* The stream that joined last comes first. The one that began has the resets of both events, too, which the
       runtime adds. */
    static const uint32_t length[2] = {4, 5};
    static const uint32_t numbers[2][5] = {{2, 3, 4, 5}, {0, 1, 6, 7, 8}};
    static const aclmdlRITaskType wanted[2][5] = {
        {ACL_MODEL_RI_TASK_EVENT_WAIT, ACL_MODEL_RI_TASK_VALUE_WRITE, ACL_MODEL_RI_TASK_VALUE_WAIT,
         ACL_MODEL_RI_TASK_EVENT_RECORD},
        {ACL_MODEL_RI_TASK_KERNEL, ACL_MODEL_RI_TASK_EVENT_RECORD, ACL_MODEL_RI_TASK_EVENT_WAIT,
         ACL_MODEL_RI_TASK_EVENT_RESET, ACL_MODEL_RI_TASK_EVENT_RESET},
    };
    for (int lane = 0; lane < 2; lane++) {
        count = 8;
        SAY(aclmdlRIGetTasksByStream(streams[lane], tasks, &count), 0);
        EXPECT(count, length[lane]);
        for (uint32_t i = 0; i < count; i++) {
            SAY(aclmdlRITaskGetType(tasks[i], &type), 0);
            EXPECT(type, wanted[lane][i]);
            SAY(aclmdlRITaskGetSeqId(tasks[i], &id), 0);
            EXPECT(id, numbers[lane][i]);
            SAY(aclmdlRITaskGetParams(tasks[i], &params), 0);
            EXPECT(params.type, type);
            if (type == ACL_MODEL_RI_TASK_KERNEL) {
                TRUE(params.kernelTaskParams.funcHandle == set);
                EXPECT(params.kernelTaskParams.numBlocks, 1);
                EXPECT(params.kernelTaskParams.argsSize, sizeof(struct word_args));
                TRUE(((struct word_args *)params.kernelTaskParams.args)->word == word);
            } else if (type == ACL_MODEL_RI_TASK_VALUE_WRITE) {
                TRUE(params.valueWriteTaskParams.devAddr == word);
                EXPECT(params.valueWriteTaskParams.value, 2);
            } else if (type == ACL_MODEL_RI_TASK_VALUE_WAIT) {
                EXPECT(params.valueWaitTaskParams.flag, 1);
            } else if (type == ACL_MODEL_RI_TASK_EVENT_RECORD) {
                TRUE(params.eventRecordTaskParams.event == (lane ? fork : join));
                EXPECT(params.eventRecordTaskParams.eventFlag, ACL_EVENT_SYNC);
            }
        }
    }
    SAY(aclmdlRIGetTasksByStream(s1, tasks, &count), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRITaskGetType(NULL, &type), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRIDestroy(model), 0);
    SAY(aclmdlRITaskGetType(tasks[0], &type), ACL_ERROR_RT_INVALID_HANDLE);
    return finish();
}
