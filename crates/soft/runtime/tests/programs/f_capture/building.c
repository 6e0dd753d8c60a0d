/* Graphs that are built by hand. */
#include "../capture.h"
#include "../cases.h"

/* Streams are bound, their tasks are kept, and the graph is executed when it is complete. */
CASE(a_graph_is_built_by_hand)
{
    aclmdlRI model = NULL;
    aclrtStream bound;
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
}

/* What can be bound, when tasks can be added, and what a graph by hand cannot be. */
CASE(building_is_checked)
{
    aclmdlRI model = NULL, other = NULL;
    aclrtStream bound;
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
}

/* On bound streams only events that the device keeps a flag of can be used; they order the lanes. */
CASE(built_lanes_are_ordered_by_events)
{
    aclmdlRI model = NULL;
    aclrtStream first, second;
    aclrtEvent held, plain;
    aclrtStream stream = new_stream();
    aclrtEvent ex = new_event();
    uint64_t *a = new_word(0), *b = new_word(0);
    OK(aclrtCreateEventWithFlag(&held, ACL_EVENT_SYNC));
    OK(aclrtCreateEvent(&plain));
    OK(aclrtCreateStreamWithConfig(&first, 0, ACL_STREAM_PERSISTENT));
    OK(aclrtCreateStreamWithConfig(&second, 0, ACL_STREAM_PERSISTENT));
    SAY(aclmdlRIBuildBegin(&model, 0), 0);
    SAY(aclmdlRIBindStream(model, first, ACL_MODEL_STREAM_FLAG_HEAD), 0);
    SAY(aclmdlRIBindStream(model, second, ACL_MODEL_STREAM_FLAG_HEAD), 0);
    SAY(aclrtRecordEvent(plain, first), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtRecordEvent(ex, first), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtStreamWaitEvent(second, ex), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtStreamWaitEvent(first, held), 0);
    SAY(aclrtResetEvent(held, first), 0);
    copy_word(b, a, first);
    SAY(aclmdlRIEndTask(model, first), 0);
    SAY(aclrtLaunchHostFunc(second, add_one, a), 0);
    SAY(aclrtRecordEvent(held, second), 0);
    SAY(aclmdlRIBuildEnd(model, NULL), 0);
    EXPECT(show(model), 5);
    for (int i = 1; i <= 3; i++) {
        run(model, stream);
        EXPECT(*b, i);
    }
}

/* A name that the program gives, and a number that no other graph has. */
CASE(graphs_have_names_and_ids)
{
    char name[8] = "?";
    uint32_t first = 9, second = 9;
    aclrtStream stream = new_stream();
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    aclmdlRI a = end_well(stream, 0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    aclmdlRI b = end_well(stream, 0);
    SAY(aclmdlRIGetId(a, &first), 0);
    SAY(aclmdlRIGetId(b, &second), 0);
    EXPECT(first, 0);
    EXPECT(second, 1);
    SAY(aclmdlRIGetName(a, sizeof name, name), 0);
    EXPECT(strcmp(name, ""), 0);
    SAY(aclmdlRISetName(a, "decode"), 0);
    SAY(aclmdlRIGetName(a, sizeof name, name), 0);
    EXPECT(strcmp(name, "decode"), 0);
    SAY(aclmdlRIGetName(a, 6, name), ACL_ERROR_RT_INTERNAL_ERROR);
    SAY(aclmdlRISetName(a, NULL), ACL_ERROR_INVALID_PARAM);
}

/* Every stream of a capture takes a stream of the device until the graph is destroyed. */

/* 
   SOFTACL: streams=7 */
CASE(graphs_take_streams_of_the_device)
{
    uint32_t left = 0;
    aclrtStream s1 = new_stream(), s2 = new_stream(), s3 = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    OK(aclrtGetStreamAvailableNum(&left));
    EXPECT(left, 2);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    SAY(aclrtStreamWaitEvent(s3, fork), ACL_ERROR_RT_NO_STREAM_RESOURCE);
    EXPECT(status_of(s1), INVALIDATED);
    SAY(aclrtRecordEvent(join, s2), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    end_badly(s1, ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    OK(aclrtGetStreamAvailableNum(&left));
    EXPECT(left, 2);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    wait_for(s2, join, s1);
    aclmdlRI model = end_well(s1, 4);
    SAY(aclmdlRICaptureBegin(s3, GLOBAL), ACL_ERROR_RT_NO_STREAM_RESOURCE);
    EXPECT(status_of(s3), NONE);
    SAY(aclmdlRIDestroy(model), 0);
    OK(aclrtGetStreamAvailableNum(&left));
    EXPECT(left, 2);
}

/* The streams that stand for lanes are known, and belong to the graph. */
CASE(streams_of_a_graph_take_no_tasks)
{
    aclrtStream lane = NULL;
    uint32_t count = 1;
    int id = -1;
    aclrtStream stream = new_stream();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    aclmdlRI model = end_well(stream, 0);
    SAY(aclmdlRIGetStreams(model, &lane, &count), 0);
    TRUE(lane != stream);
    SAY(aclrtStreamGetId(lane, &id), 0);
    TRUE(id >= 0);
    SAY(aclrtValueWrite(word, 1, 0, lane), ACL_ERROR_RT_STREAM_MODEL);
    SAY(aclmdlRICaptureBegin(lane, GLOBAL), ACL_ERROR_RT_STREAM_MODEL);
    SAY(aclmdlRIExecuteAsync(model, lane), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclrtDestroyStream(lane), ACL_ERROR_RT_STREAM_MODEL);
    SAY(aclrtSynchronizeStream(lane), 0);
    SAY(aclmdlRIDestroy(model), 0);
    SAY(aclrtStreamGetId(lane, &id), ACL_ERROR_RT_INVALID_HANDLE);
}
