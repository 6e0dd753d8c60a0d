#include "../cases.h"
#include <pthread.h>

static int stop;
static pthread_t server;
static int in_server;

static void note_thread(void *data)
{
    in_server = pthread_equal(pthread_self(), server);
    count_call(data);
}

static void *serve(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) {
        aclrtProcessReport(50);
    }
    return unused;
}

/* A blocking callback runs in the subscribed thread and holds the stream; the other kind does not. */
CASE(blocking_callback_holds_the_stream)
{
    aclrtStream stream;
    struct gate gate = {0, 0};
    int calls = 0;
    aclrtStreamStatus state;
    OK(aclrtCreateStream(&stream));
    EXPECT(aclrtLaunchCallback(count_call, &calls, ACL_CALLBACK_BLOCK, stream),
           ACL_ERROR_RT_STREAM_NO_CB_REG);
    pthread_create(&server, NULL, serve, NULL);
    OK(aclrtSubscribeReport((uint64_t)server, stream));
    OK(aclrtLaunchCallback(note_thread, &calls, ACL_CALLBACK_BLOCK, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(calls, 1);
    EXPECT(in_server, 1);
    OK(aclrtLaunchCallback(wait_at_gate, &gate, ACL_CALLBACK_BLOCK, stream));
    sleep_ms(20);
    OK(aclrtStreamQuery(stream, &state));
    EXPECT(state, ACL_STREAM_STATUS_NOT_READY);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(stream));
    gate.open = gate.entered = 0;
    OK(aclrtLaunchCallback(wait_at_gate, &gate, ACL_CALLBACK_NO_BLOCK, stream));
    OK(aclrtSynchronizeStream(stream));
    open_gate(&gate);
    OK(aclrtUnSubscribeReport((uint64_t)server, stream));
    EXPECT(aclrtLaunchCallback(count_call, &calls, ACL_CALLBACK_BLOCK, stream),
           ACL_ERROR_RT_STREAM_NO_CB_REG);
    __atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
    pthread_join(server, NULL);
}

static int *pinned, seen_context = -1;

static void overwrite(void *value)
{
    aclrtContext context;
    seen_context = aclrtGetCurrentContext(&context);
    *pinned = (int)(intptr_t)value;
}

/* A callback runs inside ProcessReport, without a context; later tasks of a blocking one come after it. */
CASE(callbacks_run_where_they_are_processed)
{
    aclrtStream stream;
    pthread_t thread;
    int *device;
    OK(aclrtCreateStream(&stream));
    OK(aclrtMallocHost((void **)&pinned, sizeof *pinned));
    OK(aclrtMalloc((void **)&device, sizeof *device, ACL_MEM_MALLOC_HUGE_FIRST));
    *pinned = 1;
    pthread_create(&thread, NULL, serve, NULL);
    OK(aclrtSubscribeReport((uint64_t)thread, stream));
    OK(aclrtMemcpyAsync(device, 4, pinned, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtLaunchCallback(overwrite, (void *)5, ACL_CALLBACK_BLOCK, stream));
    OK(aclrtMemcpyAsync(device, 4, pinned, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtLaunchCallback(overwrite, (void *)9, ACL_CALLBACK_BLOCK, stream));
    OK(aclrtMemcpyAsync(pinned, 4, device, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(*pinned, 5);
    EXPECT(seen_context, ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtLaunchCallback(NULL, NULL, ACL_CALLBACK_BLOCK, stream), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtLaunchCallback(overwrite, NULL, (aclrtCallbackBlockType)3, stream),
           ACL_ERROR_INVALID_PARAM);
    __atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    OK(aclrtUnSubscribeReport((uint64_t)thread, stream));
}

static void callback(aclrtExceptionInfo *info)
{
    (void)info;
}

/* Exception callbacks can be set, and the accessors know no exception. */
CASE(exception_callbacks_are_registered)
{
    OK(aclrtSetExceptionInfoCallback(callback));
    OK(aclrtSetExceptionInfoCallback(NULL));
    OK(aclrtExceptionInfoCallbackUnregister(callback));
    OK(aclrtExceptionInfoCallbackRegister(callback));
    OK(aclrtExceptionInfoCallbackUnregister(callback));
    EXPECT(aclrtExceptionInfoCallbackRegister(NULL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtGetTaskIdFromExceptionInfo(NULL), 0xffffffffu);
    EXPECT(aclrtGetStreamIdFromExceptionInfo(NULL), 0xffffffffu);
    EXPECT(aclrtGetThreadIdFromExceptionInfo(NULL), 0xffffffffu);
    EXPECT(aclrtGetDeviceIdFromExceptionInfo(NULL), 0xffffffffu);
    EXPECT(aclrtGetErrorCodeFromExceptionInfo(NULL), 0xffffffffu);
}

static pthread_t threads[4];

static void note(void *slot)
{
    *(pthread_t *)slot = pthread_self();
}

/* Host functions of a context run on one helper thread and hold their stream. */
CASE(host_functions_run_on_a_thread_of_the_context)
{
    aclrtStream first, second;
    int calls = 0;
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtLaunchHostFunc(first, note, &threads[0]));
    OK(aclrtLaunchHostFunc(second, note, &threads[1]));
    OK(aclrtLaunchHostFunc(NULL, note, &threads[2]));
    OK(aclrtSynchronizeDevice());
    TRUE(pthread_equal(threads[0], threads[1]) && pthread_equal(threads[1], threads[2]));
    TRUE(!pthread_equal(threads[0], pthread_self()) && threads[0] != 0);
    aclrtContext context;
    OK(aclrtCreateContext(&context, 0));
    OK(aclrtLaunchHostFunc(NULL, note, &threads[3]));
    OK(aclrtSynchronizeDevice());
    TRUE(!pthread_equal(threads[0], threads[3]) && threads[3] != 0);
    EXPECT(aclrtLaunchHostFunc(NULL, NULL, &calls), ACL_ERROR_RT_PARAM_INVALID);
}

/* A stream has one thread, a thread streams of one device, and both can be taken back. */
BARE_CASE(subscriptions_are_exclusive)
{
    aclrtStream first, second, elsewhere;
    aclrtContext zero;
    uint64_t own = (uint64_t)pthread_self();
    start();
    OK(aclrtGetCurrentContext(&zero));
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    EXPECT(aclrtProcessReport(10), ACL_ERROR_RT_THREAD_SUBSCRIBE);
    OK(aclrtSubscribeReport(own, first));
    EXPECT(aclrtSubscribeReport(own, first), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    EXPECT(aclrtSubscribeReport(own + 1, first), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    OK(aclrtSubscribeReport(own, second));
    OK(aclrtSetDevice(1));
    OK(aclrtCreateStream(&elsewhere));
    EXPECT(aclrtSubscribeReport(own, elsewhere), ACL_ERROR_RT_THREAD_SUBSCRIBE);
    OK(aclrtSetCurrentContext(zero));
    EXPECT(aclrtProcessReport(0), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtProcessReport(-2), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtProcessReport(20), ACL_ERROR_RT_REPORT_TIMEOUT);
    EXPECT(aclrtUnSubscribeReport(own + 1, first), ACL_ERROR_RT_THREAD_SUBSCRIBE);
    OK(aclrtUnSubscribeReport(own, first));
    EXPECT(aclrtUnSubscribeReport(own, first), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    OK(aclrtUnSubscribeReport(own, second));
    EXPECT(aclrtProcessReport(10), ACL_ERROR_RT_THREAD_SUBSCRIBE);
}

/* Callbacks that nobody processed are dropped with the subscription. */
BARE_CASE(unsubscribing_lets_the_stream_go_on)
{
    aclrtStream stream;
    int calls = 0;
    uint64_t own = (uint64_t)pthread_self();
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtSubscribeReport(own, stream));
    OK(aclrtLaunchCallback(count_call, &calls, ACL_CALLBACK_BLOCK, stream));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 30), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    OK(aclrtUnSubscribeReport(own, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(calls, 0);
    OK(aclrtSubscribeReport(own, stream));
    OK(aclrtLaunchCallback(count_call, &calls, ACL_CALLBACK_NO_BLOCK, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtProcessReport(1000));
    EXPECT(calls, 1);
    EXPECT(aclrtProcessReport(10), ACL_ERROR_RT_REPORT_TIMEOUT);
}
