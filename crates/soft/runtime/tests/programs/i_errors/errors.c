#include "../cases.h"
#include <pthread.h>
#include <unistd.h>

static void exceptions(aclrtExceptionInfo *info)
{
    (void)info;
}

/* Codes that no other program here asks for, as the open runtime gives them. */
CASE(codes_are_those_of_the_runtime)
{
    aclrtStream stream, blocked;
    aclrtEvent device_only;
    uint32_t task = 99;
    char from[8] = "abcdefg", to[8] = "";
    uint64_t *memory;
    int calls = 0;
    OK(aclrtGetThreadLastTaskId(&task));
    EXPECT(task, 0);
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc((void **)&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(to, 8, from, 0, ACL_MEMCPY_HOST_TO_HOST));
    EXPECT(to[0], 0);
    OK(aclrtMemcpy(memory, 64, from, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemsetAsync(memory, 64, 1, 0, stream));
    EXPECT(aclrtLaunchCallback(NULL, NULL, ACL_CALLBACK_BLOCK, stream), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtLaunchHostFunc(stream, NULL, NULL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtLaunchCallback(count_call, &calls, (aclrtCallbackBlockType)2, stream), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtLaunchCallback(count_call, &calls, ACL_CALLBACK_BLOCK, stream),
           ACL_ERROR_RT_STREAM_NO_CB_REG);
    OK(aclrtLaunchHostFunc(stream, count_call, &calls));
    EXPECT(aclrtLaunchCallback(count_call, &calls, ACL_CALLBACK_BLOCK, stream), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    OK(aclrtCreateEventWithFlag(&device_only, ACL_EVENT_DEVICE_USE_ONLY));
    OK(aclrtSynchronizeEvent(device_only));
    OK(aclrtMemset(memory, 64, 0, 64));
    OK(aclrtValueWrite((char *)memory + 4, 0x1122334455667788, 0, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(memory[0], 0x5566778800000000);
    EXPECT(memory[1], 0x11223344);
    OK(aclrtValueWait((char *)memory + 4, 0x1122334455667788, ACL_STREAM_WAIT_VALUE_EQ, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtCreateStream(&blocked));
    EXPECT(aclrtSetStreamOverflowSwitch(blocked, 2), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtExceptionInfoCallbackRegister(NULL), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtExceptionInfoCallbackUnregister(exceptions));
    EXPECT(calls, 1);
}

/* Values that are no handles get a code and are never followed. */
CASE(invented_handles_are_answered)
{
    aclrtStreamStatus state;
    aclrtEventRecordedStatus status;
    void *values[] = {(void *)1, (void *)0xdeadbeef, &state, (void *)-16, main};
    for (int i = 0; i < 5; i++) {
        EXPECT(aclrtStreamQuery(values[i], &state), ACL_ERROR_RT_INVALID_HANDLE);
        EXPECT(aclrtSynchronizeStream(values[i]), ACL_ERROR_RT_INVALID_HANDLE);
        EXPECT(aclrtDestroyStream(values[i]), ACL_ERROR_RT_INVALID_HANDLE);
        EXPECT(aclrtQueryEventStatus(values[i], &status), ACL_ERROR_RT_INVALID_HANDLE);
        EXPECT(aclrtRecordEvent(values[i], NULL), ACL_ERROR_RT_INVALID_HANDLE);
        EXPECT(aclrtDestroyEvent(values[i]), ACL_ERROR_RT_INVALID_HANDLE);
        EXPECT(aclrtSetCurrentContext(values[i]), ACL_ERROR_RT_PARAM_INVALID);
        EXPECT(aclrtDestroyNotify(values[i]), ACL_ERROR_RT_INVALID_HANDLE);
    }
}

static int seen = -1;

static void *other(void *unused)
{
    seen = aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
    return unused;
}

/* Peek keeps the last error of the thread, Get clears it; other threads do not see it. */
CASE(last_error_is_per_thread)
{
    pthread_t thread;
    int32_t device;
    OK(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL));
    EXPECT(aclrtSetDevice(77), ACL_ERROR_RT_INVALID_DEVICEID);
    OK(aclrtGetDevice(&device));
    EXPECT(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    EXPECT(seen, 0);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
    OK(aclrtGetLastError(ACL_RT_THREAD_LEVEL));
    EXPECT(aclrtGetLastError((aclrtLastErrLevel)3), ACL_ERROR_INVALID_PARAM);
}

/* What softacl does not have is refused with one code; profiling calls are accepted. */
CASE(missing_features_say_so)
{
    EXPECT(aclrtSnapShotProcessBackup(getpid(), NULL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclmdlInitDump());
    OK(aclmdlFinalizeDump());
}

/* The option fail makes one call fail with the given code, and no other.
   SOFTACL: fail=aclrtMalloc:3:207001/aclrtCreateStream:1:207008 */
CASE(the_nth_call_can_be_made_to_fail)
{
    void *memory;
    aclrtStream stream;
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(aclrtCreateStream(&stream), ACL_ERROR_RT_NO_STREAM_RESOURCE);
    OK(aclrtCreateStream(&stream));
}

/* The message names the call and the code, and asking for it clears it. */
BARE_CASE(the_recent_message_is_handed_out_once)
{
    const char *message;
    OK(aclInit(NULL));
    TRUE(aclGetRecentErrMsg() == NULL);
    EXPECT(aclrtSetDevice(77), ACL_ERROR_RT_INVALID_DEVICEID);
    message = aclGetRecentErrMsg();
    TRUE(message != NULL);
    TRUE(message && strstr(message, "aclrtSetDevice") && strstr(message, "107001"));
    TRUE(aclGetRecentErrMsg() == NULL);
}

static aclrtContext context;
static aclrtEvent event;
static int query_said, other_has_text;

static void *looks(void *unused)
{
    (void)unused;
    aclrtEventRecordedStatus status;
    OK(aclrtSetCurrentContext(context));
    query_said = aclrtQueryEventStatus(event, &status);
    const char *text = aclGetRecentErrMsg();
    other_has_text = text && strstr(text, "failed on the device");
    return NULL;
}

/* What the device says of a failure goes to the thread that looks first, once: after that the others have nothing to read. Queries fail once a context has stopped. */
CASE(whoever_looks_takes_the_devices_texts)
{
    aclrtStream stream, blocked;
    aclrtEvent never;
    pthread_t thread;
    struct gate gate = {0, 0};
    OK(aclrtGetCurrentContext(&context));
    for (int round = 0; round < 2; round++) {
        if (round) {
            OK(aclrtCreateContext(&context, 0));
        }
        OK(aclrtCreateStream(&stream));
        OK(aclrtCreateStream(&blocked));
        OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
        OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_TIME_LINE));
        OK(aclrtCreateEventExWithFlag(&never, ACL_EVENT_SYNC));
        gate.open = 0;
        OK(aclrtLaunchHostFunc(blocked, wait_at_gate, &gate));
        OK(aclrtRecordEvent(never, blocked));
        OK(aclrtStreamWaitEventWithTimeout(stream, never, 1));
        OK(aclrtRecordEvent(event, stream));
        aclrtStreamStatus done = ACL_STREAM_STATUS_NOT_READY;
        for (int i = 0; i < 5000 && done != ACL_STREAM_STATUS_COMPLETE; i++) {
            OK(aclrtStreamQuery(stream, &done));
            sleep_ms(1);
        }
        if (round) {
            pthread_create(&thread, NULL, looks, NULL);
            pthread_join(thread, NULL);
            EXPECT(query_said, ACL_ERROR_RT_WAIT_TIMEOUT);
            EXPECT(other_has_text, 1);
        }
        EXPECT(aclrtSynchronizeStream(stream), ACL_ERROR_RT_WAIT_TIMEOUT);
        const char *text = aclGetRecentErrMsg();
        TRUE(text != NULL);
        EXPECT(text && strstr(text, "failed on the device"), !round);
        TRUE(aclGetRecentErrMsg() == NULL);
        open_gate(&gate);
        OK(aclrtSynchronizeStream(blocked));
    }
}
