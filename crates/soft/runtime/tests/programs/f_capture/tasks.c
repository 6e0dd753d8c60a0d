/* Tasks of a graph. */
#include "../capture.h"
#include "../cases.h"
#include <acl/acl_rt_memory_soma.h>

/* Tasks of a capturing stream are kept, not executed; every replay executes them. */
CASE(a_captured_task_does_not_run)
{
    aclrtStream stream = new_stream();
    uint64_t *word = new_word(5);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtLaunchHostFunc(stream, add_one, word), 0);
    sleep_ms(5);
    EXPECT(*word, 5);
    aclmdlRI model = end_well(stream, 1);
    EXPECT(*word, 5);
    for (int i = 1; i <= 3; i++) {
        run(model, stream);
        EXPECT(*word, 5 + i);
    }
    SAY(aclmdlRIDestroy(model), 0);
}

/* The depth of a queue limits tasks that wait, not the nodes of a graph. */

/* 
   SOFTACL: queue=16 */
CASE(a_graph_may_be_long)
{
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent event = new_event();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    for (uint64_t i = 0; i < 3000; i++) {
        OK(aclrtValueWrite(word, i, 0, s1));
        OK(aclrtRecordEvent(event, s1));
        OK(aclrtStreamWaitEvent(s2, event));
        OK(aclrtValueWait(word, i, 1, s2));
        OK(aclrtRecordEvent(event, s2));
        OK(aclrtStreamWaitEvent(s1, event));
    }
    aclmdlRI model = NULL;
    SAY(aclmdlRICaptureEnd(s1, &model), 0);
    for (int i = 0; i < 40; i++) {
        OK(aclmdlRIExecuteAsync(model, i % 2 ? s1 : s2));
        OK(aclrtSynchronizeDevice());
        EXPECT(*word, 2999);
        *word = 0;
    }
}

/* The pattern of serving: replay first, then update, then an external event lets the replay go on. */
CASE(a_running_replay_sees_the_update)
{
    aclrtTaskGrp group = NULL;
    aclrtEvent event;
    aclrtStream stream = new_stream(), updates = new_stream();
    aclrtFuncHandle set = kernel(load_kernels(), "set");
    uint64_t *word = new_word(0);
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_EXTERNAL));
    SAY(aclmdlRICaptureBegin(stream, RELAXED), 0);
    SAY(aclrtStreamWaitEvent(stream, event), 0);
    SAY(aclrtResetEvent(event, stream), 0);
    SAY(aclmdlRICaptureTaskGrpBegin(stream), 0);
    SAY(launch(set, word, 1, stream), 0);
    SAY(aclmdlRICaptureTaskGrpEnd(stream, &group), 0);
    aclmdlRI model = end_well(stream, 2);
    for (uint64_t i = 5; i < 9; i++) {
        SAY(aclmdlRIExecuteAsync(model, stream), 0);
        SAY(aclmdlRICaptureTaskUpdateBegin(updates, group), 0);
        SAY(launch(set, word, i, updates), 0);
        SAY(aclmdlRICaptureTaskUpdateEnd(updates), 0);
        SAY(aclrtRecordEvent(event, updates), 0);
        OK(aclrtSynchronizeStream(stream));
        EXPECT(*word, i);
    }
}

/* A captured launch keeps its arguments; what they point to is read at every replay. */
CASE(arguments_are_copied_and_memory_is_not)
{
    aclrtStream stream = new_stream();
    aclrtFuncHandle add = kernel(load_kernels(), "add");
    uint64_t *word = new_word(0);
    struct word_args args = {word, 5};
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtLaunchKernelWithHostArgs(add, 1, stream, NULL, &args, sizeof args, NULL, 0), 0);
    args.word = NULL;
    args.number = 1000;
    aclmdlRI model = end_well(stream, 1);
    run(model, stream);
    EXPECT(*word, 5);
    *word = 100;
    run(model, stream);
    EXPECT(*word, 105);
}

/* Conditional graphs say that they are not there. */
CASE(conditions_are_not_supported)
{
    aclmdlRICondHandle handle = NULL;
    aclmdlRICondTaskParams params = {NULL, ACL_MODEL_RI_COND_TYPE_IF, 1, NULL};
    uint64_t *value;
    aclmdlRI model;
    aclrtStream stream = new_stream();
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclmdlRICaptureGetInfo(stream, NULL, &model), 0);
    SAY(aclmdlRICondHandleCreate(model, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &handle), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclmdlRICondHandleGetCondPtr(handle, &value), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclmdlRIAddCondTask(params, stream, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    end_well(stream, 0);
}

/* Copies, fills, reductions, kernels, callbacks, notifies, counters and values. */

static void *serves(void *data)
{
    while (!__atomic_load_n((int *)data, __ATOMIC_SEQ_CST)) {
        aclrtProcessReport(20);
    }
    return NULL;
}

/* 
   SOFTACL: chip=950 */
CASE(every_kind_of_task_is_captured)
{
    aclrtNotify notify;
    aclrtCntNotify counter;
    pthread_t thread;
    int over = 0;
    aclrtStream stream = new_stream();
    aclrtFuncHandle set = kernel(load_kernels(), "set");
    uint64_t *a = new_word(0), *b = new_word(0), *host;
    OK(aclrtMallocHost((void **)&host, 64));
    *host = 3;
    OK(aclrtCreateNotify(&notify, 0));
    OK(aclrtCntNotifyCreate(&counter, 0));
    EXPECT(pthread_create(&thread, NULL, serves, &over), 0);
    OK(aclrtSubscribeReport((uint64_t)thread, stream));
    aclrtCntNotifyRecordInfo add = {ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 2};
    aclrtCntNotifyWaitInfo until = {ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 2, 0, 1, {0}};
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtMemcpyAsync(a, 8, host, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream), 0);
    SAY(aclrtMemcpy2dAsync(b, 8, a, 8, 8, 1, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), 0);
    SAY(aclrtReduceAsync(b, a, 8, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, stream, NULL), 0);
    SAY(aclrtMemsetAsync(a, 8, 0, 8, stream), 0);
    SAY(launch(set, a, 11, stream), 0);
    SAY(launch(set, a, 12, stream), 0);
    SAY(aclrtLaunchCallback(add_one, b, ACL_CALLBACK_BLOCK, stream), 0);
    SAY(aclrtRecordNotify(notify, stream), 0);
    SAY(aclrtWaitAndResetNotify(notify, stream, 0), 0);
    SAY(aclrtCntNotifyRecord(counter, stream, &add), 0);
    SAY(aclrtCntNotifyWaitWithTimeout(counter, stream, &until), 0);
    SAY(aclrtValueWait(a, 12, 1, stream), 0);
    SAY(aclrtValueWrite(a, 13, 0, stream), 0);
    aclmdlRI model = end_well(stream, 13);
    for (int i = 0; i < 3; i++) {
        run(model, stream);
        EXPECT(*a, 13);
        EXPECT(*b, 7);
    }
    OK(aclrtUnSubscribeReport((uint64_t)thread, stream));
    __atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
    EXPECT(pthread_join(thread, NULL), 0);
}

/* Host functions and notifies in both lanes of a graph; the join waits for all. */
CASE(host_functions_of_two_lanes)
{
    aclrtNotify notify;
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    uint64_t *a = new_word(0), *b = new_word(0);
    OK(aclrtCreateNotify(&notify, 0));
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    for (int i = 0; i < 3; i++) {
        SAY(aclrtLaunchHostFunc(s1, add_one, a), 0);
        SAY(aclrtLaunchHostFunc(s2, add_one, b), 0);
    }
    SAY(aclrtWaitAndResetNotify(notify, s2, 0), 0);
    copy_word(b, a, s2);
    SAY(aclrtRecordNotify(notify, s1), 0);
    wait_for(s2, join, s1);
    aclmdlRI model = end_well(s1, 13);
    for (int i = 1; i <= 4; i++) {
        run(model, s1);
        EXPECT(*a, 3 * i);
        EXPECT(*b, 3 * i);
    }
}

/* A task group's kernels get other arguments; the next replay uses them. */
CASE(kernels_are_updated)
{
    aclrtTaskGrp group = NULL;
    aclrtStream stream = new_stream(), updates = new_stream();
    aclrtBinHandle binary = load_kernels();
    aclrtFuncHandle set = kernel(binary, "set"), add = kernel(binary, "add");
    uint64_t *a = new_word(0), *b = new_word(0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(launch(set, a, 1, stream), 0);
    SAY(aclmdlRICaptureTaskGrpBegin(stream), 0);
    SAY(launch(add, a, 10, stream), 0);
    SAY(launch(set, b, 20, stream), 0);
    SAY(aclmdlRICaptureTaskGrpEnd(stream, &group), 0);
    SAY(launch(add, b, 1, stream), 0);
    aclmdlRI model = end_well(stream, 4);
    run(model, stream);
    EXPECT(*a, 11);
    EXPECT(*b, 21);
    SAY(aclmdlRICaptureTaskUpdateBegin(updates, group), 0);
    SAY(launch(add, a, 100, updates), 0);
    SAY(launch(set, b, 200, updates), 0);
    SAY(aclmdlRICaptureTaskUpdateEnd(updates), 0);
    OK(aclrtSynchronizeStream(updates));
    EXPECT(*a, 11);
    EXPECT(show(model), 4);
    run(model, stream);
    EXPECT(*a, 101);
    EXPECT(*b, 201);
}

/* A switch goes on at the label whose number is in device memory when its turn comes: forwards, beyond the last one, and on another stream of the graph, which starts only then. */
CASE(labels_are_jumped_to)
{
    enum { LABELS = 3 };
    aclrtLabel labels[LABELS], free_label;
    aclrtLabelList list = NULL;
    aclmdlRI model = NULL;
    aclrtStream main_stream, side;
    uint32_t *index;
    aclrtStream stream = new_stream();
    uint64_t *a = new_word(0), *b = new_word(0), *c = new_word(0);
    OK(aclrtMalloc((void **)&index, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < LABELS; i++) {
        SAY(aclrtCreateLabel(&labels[i]), 0);
    }
    SAY(aclrtCreateLabel(&free_label), 0);
    SAY(aclrtCreateLabelList(labels, LABELS, &list), 0);
    OK(aclrtCreateStreamWithConfig(&main_stream, 0, ACL_STREAM_PERSISTENT));
    OK(aclrtCreateStreamWithConfig(&side, 0, ACL_STREAM_PERSISTENT));
    SAY(aclrtSetLabel(labels[0], stream), ACL_ERROR_RT_STREAM_MODEL);
    SAY(aclmdlRIBuildBegin(&model, 0), 0);
    SAY(aclmdlRIBindStream(model, main_stream, ACL_MODEL_STREAM_FLAG_HEAD), 0);
    SAY(aclmdlRIBindStream(model, side, ACL_MODEL_STREAM_FLAG_DEFAULT), 0);
    SAY(aclrtSwitchLabelByIndex(index, LABELS - 1, list, main_stream), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclrtSwitchLabelByIndex(NULL, LABELS, list, main_stream), ACL_ERROR_INVALID_PARAM);
    SAY(aclrtSwitchLabelByIndex(index, LABELS, list, main_stream), 0);
    SAY(aclrtSetLabel(labels[0], main_stream), 0);
    SAY(aclrtSetLabel(labels[0], main_stream), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclrtLaunchHostFunc(main_stream, add_one, a), 0);
    SAY(aclrtSetLabel(labels[1], main_stream), 0);
    SAY(aclrtLaunchHostFunc(main_stream, add_one, b), 0);
    SAY(aclrtSetLabel(labels[2], side), 0);
    SAY(aclrtLaunchHostFunc(side, add_one, c), 0);
    SAY(aclmdlRIEndTask(model, main_stream), 0);
    SAY(aclmdlRIBuildEnd(model, NULL), 0);
    static const uint32_t indexes[] = {0, 1, 2, 77};
    static const uint64_t wanted[][3] = {{1, 1, 0}, {1, 2, 0}, {1, 2, 1}, {1, 2, 2}};
    for (int i = 0; i < 4; i++) {
        *index = indexes[i];
        run(model, stream);
        EXPECT(*a, wanted[i][0]);
        EXPECT(*b, wanted[i][1]);
        EXPECT(*c, wanted[i][2]);
    }
    SAY(aclmdlRIUnbindStream(model, main_stream), 0);
    SAY(aclmdlRIUnbindStream(model, side), 0);
    SAY(aclmdlRIDestroy(model), 0);
    SAY(aclrtDestroyLabelList(list), 0);
    SAY(aclrtDestroyLabelList(list), ACL_ERROR_RT_INVALID_HANDLE);
    SAY(aclrtDestroyLabel(free_label), 0);
    SAY(aclrtDestroyLabel(free_label), ACL_ERROR_RT_INVALID_HANDLE);
    SAY(aclrtCreateLabelList(labels, 0, &list), ACL_ERROR_RT_PARAM_INVALID);
}

/* A replay would allocate again: pools are refused on capturing streams. */
CASE(pool_memory_is_not_captured)
{
    aclrtMemPool pool;
    aclrtMemPoolProps props;
    void *memory = NULL, *other = NULL;
    aclrtStream stream = new_stream();
    memset(&props, 0, sizeof props);
    OK(aclrtMemPoolCreate(&pool, &props));
    OK(aclrtMemPoolMallocAsync(&memory, 64, pool, stream));
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtMemPoolMallocAsync(&other, 64, pool, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtMemPoolFreeAsync(memory, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    end_well(stream, 0);
}

/* Groups belong to a capture, do not nest, hold kernels only (else the capture is lost), and are closed at its end. */
CASE(task_groups_are_checked)
{
    aclrtTaskGrp group = NULL;
    aclrtStream stream = new_stream();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureTaskGrpBegin(stream), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
    SAY(aclmdlRICaptureTaskGrpEnd(stream, &group), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
    SAY(aclmdlRICaptureTaskGrpBegin(NULL), ACL_ERROR_INVALID_PARAM);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclmdlRICaptureTaskGrpEnd(stream, &group), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
    SAY(aclmdlRICaptureTaskGrpBegin(stream), 0);
    SAY(aclmdlRICaptureTaskGrpBegin(stream), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
    SAY(aclrtValueWrite(word, 1, 0, stream), ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT);
    SAY(aclmdlRICaptureTaskGrpEnd(stream, &group), ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT);
    TRUE(group == NULL);
    end_badly(stream, ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclmdlRICaptureTaskGrpBegin(stream), 0);
    end_badly(stream, ACL_ERROR_STREAM_TASK_GROUP_STATUS);
}

/* New parameters and disabled kernels hold from the next update of the graph on.
   SOFTACL: graph_updates */
CASE(tasks_of_a_graph_are_changed)
{
    aclrtStream hidden;
    aclmdlRITask tasks[3];
    uint32_t one = 1, count = 3;
    aclmdlRITaskParams params;
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
}

/* Streams, tasks, their types, numbers and parameters. */
CASE(tasks_of_a_graph_are_listed)
{
    aclrtStream streams[4];
    aclmdlRITask tasks[8];
    uint32_t count = 0, id = 99;
    aclmdlRITaskType type;
    aclmdlRITaskParams params;
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
}

static long read_all(const char *path, char *text, long room)
{
    FILE *file = fopen(path, "r");
    long length = file ? (long)fread(text, 1, (size_t)room - 1, file) : 0;
    text[length] = 0;
    if (file) {
        fclose(file);
    }
    return length;
}

/* Chrome trace events stream by stream, the same each time they are written. */
CASE(the_debug_file_is_json)
{
    char path[] = "/tmp/softacl-json-XXXXXX", first[4000], second[4000];
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    aclrtFuncHandle set = kernel(load_kernels(), "set");
    uint64_t *word = new_word(0);
    TRUE(mkstemp(path) >= 0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    SAY(launch(set, word, 1, s2), 0);
    wait_for(s2, join, s1);
    aclmdlRI model = end_well(s1, 5);
    OK(aclmdlRIDebugJsonPrint(model, path, 0));
    TRUE(read_all(path, first, sizeof first) > 100);
    char head[200];
    snprintf(head, sizeof head, "[\n{\"name\":\"EVENT_WAIT_0\",\"pid\":\"%d aclGraph\",\"tid\":\"stream", getpid());
    TRUE(strncmp(first, head, strlen(head)) == 0);
    TRUE(strstr(first, "\"ts\":0,\"dur\":14.5,\"ph\":\"X\",\"args\":{\"Model Id\":") != NULL);
    TRUE(strstr(first, "\"name\":\"set\"") && strstr(first, "\"Task Type\":\"KERNEL\"}},\n"));
    TRUE(strstr(first, "\"name\":\"EVENT_RECORD_1\"") && strstr(first, "\"name\":\"EVENT_WAIT_1\""));
    TRUE(strstr(first, "\"name\":\"EVENT_RESET_0\"") && strstr(first, "\"name\":\"EVENT_RESET_1\""));
    /* The first object is of the stream that joined; its record comes third, behind the kernel. */
    const char *record = strstr(first, "EVENT_RECORD_1");
    TRUE(record && strstr(record, "\"ts\":30,") && strstr(first, "EVENT_RECORD_0") > record);
    TRUE(strcmp(first + strlen(first) - 4, "}}\n]") == 0);
    OK(aclmdlRIDebugJsonPrint(model, path, 0));
    read_all(path, second, sizeof second);
    EXPECT(strcmp(first, second), 0);
    OK(aclmdlRIDebugJsonPrint(model, path, 1));
    read_all(path, second, sizeof second);
    TRUE(strstr(second, "\"Event\":") && !strstr(first, "\"Event\":"));
    SAY(aclmdlRIDebugJsonPrint(model, path, 2), 0);
    unlink(path);
    SAY(aclmdlRIDebugJsonPrint(model, NULL, 0), ACL_ERROR_INVALID_PARAM);
    SAY(aclmdlRIDebugJsonPrint(NULL, "/tmp/x", 0), ACL_ERROR_INVALID_PARAM);
    SAY(aclmdlRIDebugJsonPrint(model, "/no/such/directory/graph.json", 0), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRIDebugPrint(model), 0);
}

/* An update has as many kernels as its group, on a stream that captures nothing, one at a time. */
CASE(updates_are_checked)
{
    aclrtTaskGrp group = NULL;
    aclrtStream stream = new_stream(), updates = new_stream();
    aclrtFuncHandle set = kernel(load_kernels(), "set");
    aclrtEvent event = new_event();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclmdlRICaptureTaskGrpBegin(stream), 0);
    SAY(launch(set, word, 1, stream), 0);
    SAY(aclmdlRICaptureTaskGrpEnd(stream, &group), 0);
    SAY(aclmdlRICaptureTaskUpdateBegin(stream, group), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclmdlRICaptureTaskUpdateEnd(stream), ACL_ERROR_RT_STREAM_CAPTURED);
    aclmdlRI model = end_well(stream, 1);
    SAY(aclmdlRICaptureTaskUpdateEnd(updates), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
    SAY(aclmdlRICaptureTaskUpdateBegin(updates, NULL), ACL_ERROR_INVALID_PARAM);
    SAY(aclmdlRICaptureTaskUpdateBegin(updates, group), 0);
    SAY(aclmdlRICaptureTaskUpdateBegin(updates, group), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
    SAY(aclmdlRICaptureTaskUpdateBegin(stream, group), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
    SAY(aclmdlRICaptureBegin(updates, GLOBAL), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
    SAY(aclmdlRICaptureTaskUpdateEnd(updates), ACL_ERROR_RT_INTERNAL_ERROR);
    /* A stream whose update failed begins no other one. */
    SAY(aclmdlRICaptureTaskUpdateBegin(updates, group), ACL_ERROR_RT_STREAM_CAPTURED);
    updates = new_stream();
    SAY(aclmdlRICaptureTaskUpdateBegin(updates, group), 0);
    SAY(launch(set, word, 2, updates), 0);
    SAY(launch(set, word, 3, updates), ACL_ERROR_RT_INTERNAL_ERROR);
    SAY(aclmdlRICaptureTaskUpdateEnd(updates), ACL_ERROR_RT_INTERNAL_ERROR);
    updates = new_stream();
    SAY(aclmdlRICaptureTaskUpdateBegin(updates, group), 0);
    SAY(aclrtRecordEvent(event, updates), ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT);
    SAY(launch(set, word, 4, updates), 0);
    SAY(aclmdlRICaptureTaskUpdateEnd(updates), ACL_ERROR_RT_INTERNAL_ERROR);
    run(model, stream);
    EXPECT(*word, 1);
    SAY(aclmdlRIDestroy(model), 0);
    updates = new_stream();
    SAY(aclmdlRICaptureTaskUpdateBegin(updates, group), ACL_ERROR_RT_INVALID_HANDLE);
}
