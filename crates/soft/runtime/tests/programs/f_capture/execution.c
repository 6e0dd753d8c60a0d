/* Replays of graphs. */
#include "../capture.h"
#include "../cases.h"

/* There are no child graphs: replay into a capturing stream is refused, and the capture goes on. */
CASE(a_graph_cannot_be_part_of_a_capture)
{
    aclrtStream stream = new_stream();
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    aclmdlRI child = end_well(stream, 0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclmdlRIExecuteAsync(child, stream), ACL_ERROR_RT_STREAM_CAPTURED);
    EXPECT(status_of(stream), ACTIVE);
    end_well(stream, 0);
}

/* On the stream that captured it, on another one, on the default stream, and synchronously. */
CASE(a_graph_executes_on_any_stream)
{
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
}

/* The graph of a capture that is under way can neither be executed nor destroyed. */
CASE(a_graph_in_capture_can_do_nothing)
{
    aclrtStream stream = new_stream(), other = new_stream();
    aclmdlRI model = NULL;
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclmdlRICaptureGetInfo(stream, NULL, &model), 0);
    SAY(aclmdlRIExecuteAsync(model, other), ACL_ERROR_RT_MODEL_CAPTURED);
    SAY(aclmdlRIDestroy(model), ACL_ERROR_RT_MODEL_CAPTURED);
    SAY(aclmdlRICaptureToModelRIBegin(other, model, GLOBAL), ACL_ERROR_RT_PARAM_INVALID);
    end_well(stream, 0);
    SAY(aclmdlRIExecuteAsync(model, other), 0);
}

/* External record in one graph, external wait in the other. */
CASE(a_graph_waits_for_another_graph)
{
    static struct gate gate;
    aclrtStream first = new_stream(), second = new_stream();
    aclrtEvent event = new_event();
    uint64_t *a = new_word(0), *b = new_word(0);
    SAY(aclmdlRICaptureBegin(first, GLOBAL), 0);
    SAY(aclrtLaunchHostFunc(first, wait_at_gate, &gate), 0);
    SAY(aclrtLaunchHostFunc(first, add_one, a), 0);
    SAY(aclrtRecordEventWithFlag(event, first, ACL_EVENT_RECORD_EXTERNAL), 0);
    aclmdlRI records = end_well(first, 3);
    SAY(aclmdlRICaptureBegin(second, GLOBAL), 0);
    SAY(aclrtStreamWaitEventWithFlag(second, event, 0, ACL_EVENT_WAIT_EXTERNAL), 0);
    copy_word(b, a, second);
    aclmdlRI waits = end_well(second, 2);
    for (int i = 1; i <= 5; i++) {
        SAY(aclmdlRIExecuteAsync(records, first), 0);
        SAY(aclmdlRIExecuteAsync(waits, second), 0);
        open_gate(&gate);
        OK(aclrtSynchronizeStream(second));
        EXPECT(*b, i);
    }
    OK(aclrtSynchronizeStream(first));
}

static uint64_t *word;

static void doubles(void *data)
{
    (void)data;
    *word *= 2;
}

/* A replay is one entry in the order of its stream: nothing in it overtakes or is overtaken. */
CASE(a_replay_keeps_the_order_of_its_stream)
{
    aclrtStream stream = new_stream(), side = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    word = new_word(1);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    wait_for(stream, fork, side);
    SAY(aclrtLaunchHostFunc(side, add_one, word), 0);
    wait_for(side, join, stream);
    aclmdlRI model = end_well(stream, 5);
    for (int i = 0; i < 4; i++) {
        SAY(aclrtLaunchHostFunc(stream, doubles, NULL), 0);
        SAY(aclmdlRIExecuteAsync(model, stream), 0);
    }
    SAY(aclrtSynchronizeStream(stream), 0);
    EXPECT(*word, 31);
}

/* An abort throws away the replays that were submitted before it. The stream and the graph go on. */
CASE(an_aborted_graph_goes_on_later)
{
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
}

/* Aborting the executing stream drops the replay; the graph can be executed again and destroyed. */
CASE(an_aborted_replay_is_over)
{
    static uint64_t never;
    aclrtStream stream = new_stream();
    uint64_t *word = new_word(0), *after = new_word(0);
    (void)never;
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtValueWait(word, 1, 1, stream), 0);
    set_word(after, 1, stream);
    aclmdlRI model = end_well(stream, 2);
    SAY(aclmdlRIExecuteAsync(model, stream), 0);
    SAY(aclrtStreamAbort(stream), 0);
    EXPECT(*after, 0);
    *word = 1;
    run(model, stream);
    EXPECT(*after, 1);
    SAY(aclmdlRIDestroy(model), 0);
}

/* 
   SOFTACL: graph_wait_ms=20,graph_updates */
CASE(destroy_gives_up_on_a_long_replay)
{
    static struct gate gate;
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
}

static void forget(void *data)
{
    *(int *)data += 100;
}

/* Callbacks of a graph run once, at its destruction. */
CASE(destroy_tells_who_asked)
{
    int calls = 0, dropped = 0;
    aclrtStream stream = new_stream();
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    aclmdlRI model = end_well(stream, 0);
    SAY(aclmdlRIDestroyRegisterCallback(model, count_call, &calls), 0);
    SAY(aclmdlRIDestroyRegisterCallback(model, count_call, &calls), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRIDestroyRegisterCallback(model, forget, &dropped), 0);
    SAY(aclmdlRIDestroyUnregisterCallback(model, forget), 0);
    SAY(aclmdlRIDestroyUnregisterCallback(model, forget), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRIDestroyRegisterCallback(model, NULL, NULL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(calls, 0);
    SAY(aclmdlRIDestroy(model), 0);
    EXPECT(calls, 1);
    EXPECT(dropped, 0);
}

static struct gate gate;

static void *opens(void *data)
{
    (void)data;
    sleep_ms(20);
    open_gate(&gate);
    return NULL;
}

/* A graph that is being executed is destroyed when it rests. */
CASE(destroy_waits_for_the_last_replay)
{
    pthread_t thread;
    aclrtStream stream = new_stream();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtLaunchHostFunc(stream, wait_at_gate, &gate), 0);
    SAY(aclrtLaunchHostFunc(stream, add_one, word), 0);
    aclmdlRI model = end_well(stream, 2);
    SAY(aclmdlRIExecuteAsync(model, stream), 0);
    EXPECT(pthread_create(&thread, NULL, opens, NULL), 0);
    SAY(aclmdlRIDestroy(model), 0);
    EXPECT(gate.open, 1);
    EXPECT(*word, 1);
    SAY(aclmdlRIExecuteAsync(model, stream), ACL_ERROR_RT_INVALID_HANDLE);
    SAY(aclmdlRIDestroy(model), ACL_ERROR_RT_INVALID_HANDLE);
    SAY(aclmdlRIDestroy(NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(pthread_join(thread, NULL), 0);
}

/* A finished graph executes on another stream while one captures; nothing of it is captured. */
CASE(graphs_execute_during_a_capture)
{
    aclrtStream stream = new_stream(), other = new_stream();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtLaunchHostFunc(stream, add_one, word), 0);
    aclmdlRI first = end_well(stream, 1);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtLaunchHostFunc(stream, add_one, word), 0);
    run(first, other);
    EXPECT(*word, 1);
    SAY(aclmdlRIDestroy(first), 0);
    aclmdlRI second = end_well(stream, 1);
    run(second, other);
    EXPECT(*word, 2);
}

/* A graph is executed and destroyed in the context that it was captured in. */
CASE(graphs_stay_in_their_context)
{
    aclrtContext own, other;
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
}

/* The same graph can be submitted often, and on several streams at once. */
CASE(many_replays_wait_in_line)
{
    aclrtStream first = new_stream(), second = new_stream();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(first, GLOBAL), 0);
    SAY(aclrtLaunchHostFunc(first, add_one, word), 0);
    aclmdlRI model = end_well(first, 1);
    for (int i = 0; i < 200; i++) {
        OK(aclmdlRIExecuteAsync(model, i % 2 ? first : second));
    }
    OK(aclrtSynchronizeDevice());
    EXPECT(*word, 200);
}
