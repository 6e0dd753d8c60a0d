#include "../cases.h"
#include "../full_queue.h"
#include <pthread.h>

static aclrtEvent event;
static int answer = -1;

static void look(void *unused)
{
    aclrtEventRecordedStatus status;
    (void)unused;
    sleep_ms(50);
    answer = aclrtQueryEventStatus(event, &status);
}

/* While a record waits for room in a full queue, a callback of that queue may query the event.
   SOFTACL: queue=2 */
CASE(a_callback_may_look_at_an_event_that_waits_for_room)
{
    aclrtStream stream;
    OK(aclrtCreateStream(&stream));
    EXPECT(aclrtRecordEvent(NULL, stream), ACL_ERROR_INVALID_PARAM);
    OK(aclrtCreateEvent(&event));
    OK(aclrtLaunchHostFunc(stream, look, NULL));
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(answer, 0);
}

/* Submitting to a full queue waits for room.
   SOFTACL: queue=8 */
CASE(a_full_queue_blocks_the_submitter)
{
    takes(8, 30);
}

static int result = -1;

static void *synchronise(void *stream)
{
    result = aclrtSynchronizeStream(stream);
    return NULL;
}

/* Aborting a stream drops its tasks and tells who waits; the stream can be used again. */
CASE(abort_drops_the_queue)
{
    aclrtStream stream;
    pthread_t thread;
    struct gate gate = {0, 0};
    int calls = 0;
    OK(aclrtCreateStream(&stream));
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    for (int i = 0; i < 5; i++) {
        OK(aclrtLaunchHostFunc(stream, count_call, &calls));
    }
    pthread_create(&thread, NULL, synchronise, stream);
    for (int i = 0; i < 1000 && !__atomic_load_n(&gate.entered, __ATOMIC_SEQ_CST); i++) {
        sleep_ms(1);
    }
    sleep_ms(50);
    OK(aclrtStreamAbort(stream));
    pthread_join(thread, NULL);
    EXPECT(result, ACL_ERROR_RT_STREAM_ABORT);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(stream));
    sleep_ms(20);
    EXPECT(calls, 0);
    OK(aclrtLaunchHostFunc(stream, count_call, &calls));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(calls, 1);
    EXPECT(aclrtStreamAbort(NULL), ACL_ERROR_RT_PARAM_INVALID);
}

/* Attributes and limits of a stream read back what was set. */
CASE(attributes_are_remembered)
{
    aclrtStream stream;
    aclrtStreamAttrValue value = {0};
    uint32_t flag = 9, cores = 0, all = 0;
    OK(aclrtCreateStream(&stream));
    value.reserve[1] = 5;
    OK(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
    EXPECT((int)value.userCustomTag, -1);
    EXPECT(value.reserve[1], 5);
    value.userCustomTag = 77;
    OK(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
    value.userCustomTag = 0;
    OK(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
    EXPECT(value.userCustomTag, 77);
    OK(aclrtSetStreamOverflowSwitch(stream, 1));
    OK(aclrtGetStreamOverflowSwitch(stream, &flag));
    EXPECT(flag, 1);
    EXPECT(aclrtSetStreamOverflowSwitch(stream, 2), ACL_ERROR_INVALID_PARAM);
    value.streamPriority = 4;
    EXPECT(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &value), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &value), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtSetStreamAttribute(stream, (aclrtStreamAttr)42, &value), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, &all));
    OK(aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, all / 2));
    OK(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, &cores));
    TRUE(all > 1 && cores == all / 2);
    OK(aclrtResetStreamResLimit(stream));
    OK(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, all);

    /* What the thread has is what a stream that it uses has, else what the device has. */
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, all);
    OK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 4));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, 4);
    OK(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, 4);
    OK(aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, 3));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, 4);
    OK(aclrtUseStreamResInCurrentThread(stream));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, 3);
    OK(aclrtUnuseStreamResInCurrentThread(NULL));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, 3);
    OK(aclrtUnuseStreamResInCurrentThread(stream));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, 4);
    OK(aclrtResetDeviceResLimit(0));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, all);
}

/* Destroying a stream waits for its work; the handle is dead afterwards. */
CASE(destroy_completes_the_work)
{
    aclrtStream stream, forced;
    aclrtEvent event;
    struct gate gate = {0, 0};
    int calls = 0;
    int32_t id;
    OK(aclrtCreateStream(&stream));
    for (int i = 0; i < 20; i++) {
        OK(aclrtLaunchHostFunc(stream, count_call, &calls));
    }
    OK(aclrtDestroyStream(stream));
    EXPECT(calls, 20);
    EXPECT(aclrtDestroyStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT(aclrtStreamGetId(stream, &id), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT(aclrtLaunchHostFunc(stream, count_call, &calls), ACL_ERROR_RT_INVALID_HANDLE);
    OK(aclrtCreateStream(&forced));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtLaunchHostFunc(forced, wait_at_gate, &gate));
    OK(aclrtLaunchHostFunc(forced, count_call, &calls));
    OK(aclrtRecordEvent(event, forced));
    for (int i = 0; i < 1000 && !__atomic_load_n(&gate.entered, __ATOMIC_SEQ_CST); i++) {
        sleep_ms(1);
    }
    OK(aclrtDestroyStreamForce(forced));
    OK(aclrtSynchronizeEvent(event));
    open_gate(&gate);
    sleep_ms(20);
    EXPECT(calls, 20);
    EXPECT(aclrtSynchronizeStream(forced), ACL_ERROR_RT_INVALID_HANDLE);
}

static int stages[2];

static int32_t aborted(int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void *data)
{
    (void)device, (void)timeout, (void)data;
    stages[stage]++;
    return 0;
}

/* DeviceTaskAbort drops the tasks of all streams of the device, and calls back before and after. */
CASE(device_abort_reaches_every_stream)
{
    aclrtStream stream;
    struct gate gate = {0, 0};
    int calls = 0;
    OK(aclrtCreateStream(&stream));
    OK(aclrtSetDeviceTaskAbortCallback("test", aborted, NULL));
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    OK(aclrtLaunchHostFunc(stream, count_call, &calls));
    OK(aclrtLaunchHostFunc(NULL, wait_at_gate, &gate));
    OK(aclrtDeviceTaskAbort(0, 1000));
    EXPECT(stages[0], 1);
    EXPECT(stages[1], 1);
    OK(aclrtSynchronizeDevice());
    EXPECT(calls, 0);
    open_gate(&gate);
    EXPECT(aclrtDeviceTaskAbort(7, 1000), ACL_ERROR_RT_INVALID_DEVICEID);
}

/* The host does not wait for streams of certain kinds. */
CASE(persistent_streams_are_not_awaited)
{
    aclrtStream stream;
    struct gate gate = {0, 0};
    uint64_t begin;
    OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_DEVICE_USE_ONLY));
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    begin = host_ns();
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtSynchronizeDevice());
    TRUE(host_ns() - begin < 5000000000u);
    EXPECT(__atomic_load_n(&gate.open, __ATOMIC_SEQ_CST), 0);
    EXPECT(aclrtPersistentTaskClean(stream), ACL_ERROR_RT_INTERNAL_ERROR);
    open_gate(&gate);
}

/* A busy stream is not ready, and waiting for it can be limited. */
CASE(query_and_timeouts)
{
    aclrtStream stream;
    aclrtStreamStatus state = ACL_STREAM_STATUS_RESERVED;
    struct gate gate = {0, 0};
    uint64_t begin;
    OK(aclrtCreateStream(&stream));
    OK(aclrtStreamQuery(stream, &state));
    EXPECT(state, ACL_STREAM_STATUS_COMPLETE);
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    OK(aclrtStreamQuery(stream, &state));
    EXPECT(state, ACL_STREAM_STATUS_NOT_READY);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, -2), ACL_ERROR_RT_PARAM_INVALID);
    begin = host_ns();
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 30), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    TRUE(host_ns() - begin >= 30000000u);
    open_gate(&gate);
    OK(aclrtSynchronizeStreamWithTimeout(stream, -1));
    OK(aclrtStreamQuery(stream, &state));
    EXPECT(state, ACL_STREAM_STATUS_COMPLETE);
    EXPECT(aclrtStreamQuery(stream, NULL), ACL_ERROR_INVALID_PARAM);
}

/* A stream that stops on failure stays so; stopping holds for the whole context. */
CASE(stopping_on_failure_stays)
{
    aclrtStream stream, other, waiting;
    aclrtEvent event;
    aclrtStreamAttrValue value;
    struct gate gate = {0, 0};
    int calls = 0;
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    OK(aclrtCreateStream(&waiting));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtSetStreamFailureMode(stream, 2));
    OK(aclrtGetStreamAttribute(other, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    EXPECT(value.failureMode, ACL_CONTINUE_ON_FAILURE);
    OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    EXPECT(aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    OK(aclrtSetStreamFailureMode(NULL, ACL_STOP_ON_FAILURE));
    OK(aclrtGetStreamAttribute(other, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    EXPECT(value.failureMode, ACL_STOP_ON_FAILURE);
    OK(aclrtLaunchHostFunc(other, wait_at_gate, &gate));
    OK(aclrtRecordEvent(event, other));
    OK(aclrtStreamWaitEventWithTimeout(waiting, event, 1));
    EXPECT(aclrtSynchronizeStream(waiting), ACL_ERROR_RT_WAIT_TIMEOUT);
    EXPECT(aclrtLaunchHostFunc(stream, count_call, &calls), ACL_ERROR_RT_WAIT_TIMEOUT);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(other));
    EXPECT(calls, 0);
}

/* Streams come with flags and priorities; unknown flags mean nothing. The first has the number 2, and the lowest number is used again first. */
CASE(streams_are_created_in_three_ways)
{
    aclrtStream plain, configured, third;
    uint32_t flags = 99, priority = 99, wanted_priority = 3;
    size_t wanted_flags = ACL_STREAM_FAST_LAUNCH;
    int32_t first = -1, second = -1;
    OK(aclrtCreateStream(&plain));
    OK(aclrtStreamGetFlags(plain, &flags));
    OK(aclrtStreamGetPriority(plain, &priority));
    EXPECT(flags, 0);
    EXPECT(priority, 0);
    OK(aclrtCreateStreamWithConfig(&configured, 5, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
    OK(aclrtStreamGetFlags(configured, &flags));
    OK(aclrtStreamGetPriority(configured, &priority));
    EXPECT(flags, 3);
    EXPECT(priority, 5);
    OK(aclrtCreateStreamWithConfig(&third, 0, 0x40));
    OK(aclrtDestroyStream(third));
    aclrtStreamConfigHandle *config = aclrtCreateStreamConfigHandle();
    TRUE(config != NULL);
    OK(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_FLAG, &wanted_flags, sizeof wanted_flags));
    OK(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &wanted_priority, 4));
    EXPECT(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &wanted_priority, 3),
           ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtCreateStreamV2(&third, config));
    OK(aclrtDestroyStreamConfigHandle(config));
    OK(aclrtStreamGetFlags(third, &flags));
    OK(aclrtStreamGetPriority(third, &priority));
    EXPECT(flags, ACL_STREAM_FAST_LAUNCH);
    EXPECT(priority, 3);
    OK(aclrtStreamGetId(plain, &first));
    OK(aclrtStreamGetId(third, &second));
    EXPECT(first, 2);
    EXPECT(second, 4);
    OK(aclrtDestroyStream(third));
    OK(aclrtDestroyStream(plain));
    OK(aclrtCreateStream(&plain));
    OK(aclrtStreamGetId(plain, &first));
    EXPECT(first, 2);
    EXPECT(aclrtCreateStream(NULL), ACL_ERROR_INVALID_PARAM);
}

/* A device has so many streams; two are the runtime's, destroyed ones come back.
   SOFTACL: streams=7 */
CASE(streams_run_out)
{
    aclrtStream streams[6];
    uint32_t left = 99;
    OK(aclrtGetStreamAvailableNum(&left));
    EXPECT(left, 5);
    for (int i = 0; i < 5; i++) {
        OK(aclrtCreateStream(&streams[i]));
    }
    OK(aclrtGetStreamAvailableNum(&left));
    EXPECT(left, 0);
    EXPECT(aclrtCreateStream(&streams[5]), ACL_ERROR_RT_NO_STREAM_RESOURCE);
    OK(aclrtSetDevice(1));
    OK(aclrtCreateStream(&streams[5]));
    OK(aclrtSetDevice(0));
    OK(aclrtDestroyStream(streams[2]));
    OK(aclrtCreateStream(&streams[2]));
    EXPECT(aclrtCreateStream(&streams[5]), ACL_ERROR_RT_NO_STREAM_RESOURCE);
}

static int order[1000], count;

static void append(void *number)
{
    order[count++] = (int)(intptr_t)number;
}

/* A stream is a queue: what was submitted first is done first. */
CASE(tasks_run_in_their_order)
{
    enum { STEPS = 500 };
    aclrtStream stream;
    static int seen[STEPS];
    OK(aclrtCreateStream(&stream));
    for (intptr_t i = 0; i < STEPS; i++) {
        seen[i] = -1;
        if (aclrtLaunchHostFunc(stream, append, (void *)i) != 0) {
            failures++;
        }
    }
    OK(aclrtSynchronizeStream(stream));
    EXPECT(count, STEPS);
    int wrong = 0;
    for (int i = 0; i < STEPS; i++) {
        wrong += order[i] != i;
    }
    EXPECT(wrong, 0);
    EXPECT(seen[0], -1);
}
