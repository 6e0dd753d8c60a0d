#include "../cases.h"
#include <acl/acl_rt_memory_soma.h>
#include <pthread.h>
#include <unistd.h>

/* What versions of the documents describe differently, but no sample relies on, is the same in both modes. */
CASE(both_modes_agree)
{
    aclrtEvent never, early, late, pending, held;
    aclrtStream first, second;
    float forward = 0, back = 0;
    char host[8] = {0};
    void *device, *pinned;
    struct gate gate = {0, 0};
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtMalloc(&device, 8, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&pinned, 8));

    /* Waits before the first record: only events that hold an id know them. */
    OK(aclrtCreateEvent(&never));
    EXPECT(aclrtStreamWaitEvent(first, never), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtCreateEventWithFlag(&held, ACL_EVENT_SYNC));
    OK(aclrtStreamWaitEvent(first, held));
    OK(aclrtRecordEvent(held, second));
    OK(aclrtSynchronizeStream(first));
    EXPECT(aclrtCreateEventWithFlag(&late, 0), ACL_ERROR_RT_PARAM_INVALID);

    /* Times have no order, and may come from two streams. */
    OK(aclrtCreateEvent(&early));
    OK(aclrtCreateEvent(&late));
    OK(aclrtRecordEvent(early, first));
    OK(aclrtSynchronizeStream(first));
    OK(aclrtRecordEvent(late, second));
    OK(aclrtSynchronizeStream(second));
    OK(aclrtEventElapsedTime(&forward, early, late));
    OK(aclrtEventElapsedTime(&back, late, early));
    TRUE(forward > 0 && back == -forward);

    /* An event may go while its work is pending. */
    OK(aclrtCreateEvent(&pending));
    OK(aclrtLaunchHostFunc(first, wait_at_gate, &gate));
    OK(aclrtRecordEvent(pending, first));
    OK(aclrtStreamWaitEvent(second, pending));
    OK(aclrtDestroyEvent(pending));
    open_gate(&gate);
    OK(aclrtSynchronizeStream(second));

    OK(aclrtMemcpy(device, 8, host, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT(aclrtMemcpyAsync(pinned, 8, host, 8, ACL_MEMCPY_HOST_TO_HOST, first),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtSynchronizeStreamWithTimeout(first, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtSynchronizeEventWithTimeout(late, 0), ACL_ERROR_RT_PARAM_INVALID);

    /* A stream may go with work in it. */
    OK(aclrtMemcpyAsync(device, 8, pinned, 8, ACL_MEMCPY_HOST_TO_DEVICE, first));
    OK(aclrtDestroyStream(first));
}

/* Devices can be used before aclInit. */
BARE_CASE(devices_need_aclinit)
{
    aclrtContext context;
    OK(aclrtSetDevice(0));
    OK(aclrtCreateContext(&context, 0));
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    EXPECT(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE);
}

/* A reset after the wait, as older samples do it with events of aclrtCreateEvent, which leaves their record. */
CASE(events_of_create_event_are_reset)
{
    aclrtEvent plain, held;
    aclrtStream first, second;
    aclrtEventRecordedStatus recorded;
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtCreateEvent(&plain));
    OK(aclrtCreateEventWithFlag(&held, ACL_EVENT_SYNC));
    for (int round = 0; round < 3; round++) {
        OK(aclrtRecordEvent(plain, first));
        OK(aclrtStreamWaitEvent(second, plain));
        OK(aclrtResetEvent(plain, second));
        OK(aclrtRecordEvent(held, first));
        OK(aclrtStreamWaitEvent(second, held));
        OK(aclrtResetEvent(held, second));
        OK(aclrtSynchronizeStream(second));
    }
    OK(aclrtQueryEventStatus(plain, &recorded));
    EXPECT(recorded, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    OK(aclrtQueryEventStatus(held, &recorded));
    EXPECT(recorded, ACL_EVENT_RECORDED_STATUS_NOT_READY);
}

/* A fill may go to any memory; in strict mode only to memory that was allocated through acl. */
CASE(fills_reach_memory_of_the_runtime)
{
    enum { SIZE = 32 };
    char stack[SIZE] = {0};
    void *device, *pinned;
    OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&pinned, SIZE));
    OK(aclrtMemset(device, SIZE, 1, SIZE));
    OK(aclrtMemset(pinned, SIZE, 1, SIZE));
    EXPECT(*(char *)pinned, 1);
    EXPECT(aclrtMemset(stack, SIZE, 1, SIZE), strict() ? ACL_ERROR_RT_PARAM_INVALID : ACL_SUCCESS);
    EXPECT(stack[SIZE - 1], strict() ? 0 : 1);
}

/* The direction of a copy follows from its addresses, whatever its kind says; but the kind has to exist for the function, unless there is nothing to copy. */
CASE(kinds_of_copies_are_followed_by_addresses)
{
    enum { SIZE = 64 };
    char *pinned, back[SIZE] = {0};
    void *device;
    aclrtStream stream;
    int wrong = ACL_ERROR_INVALID_PARAM;
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost((void **)&pinned, SIZE));
    memset(pinned, 7, SIZE);
    OK(aclrtMemcpy(device, SIZE, pinned, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtMemcpy(back, SIZE, device, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT(memcmp(back, pinned, SIZE), 0);
    memset(pinned, 8, SIZE);
    OK(aclrtMemcpyAsync(device, SIZE, pinned, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    OK(aclrtMemcpyAsync(back, SIZE, device, SIZE, ACL_MEMCPY_DEFAULT, stream));
    EXPECT(memcmp(back, pinned, SIZE), 0);
    EXPECT(aclrtMemcpy(device, SIZE, pinned, SIZE, (aclrtMemcpyKind)99), wrong);
    EXPECT(aclrtMemcpyAsync(device, SIZE, pinned, SIZE, (aclrtMemcpyKind)99, stream), wrong);
    for (int kind = -1; kind < 12; kind++) {
        int plain = kind >= 0 && kind <= 5 ? ACL_SUCCESS : wrong;
        int rows = kind >= 1 && kind <= 4 ? ACL_SUCCESS : wrong;
        aclrtMemcpyKind as = (aclrtMemcpyKind)kind;
        EXPECT(aclrtMemcpy(device, SIZE, pinned, SIZE, as), plain);
        EXPECT(aclrtMemcpyAsync(device, SIZE, pinned, SIZE, as, stream), plain);
        EXPECT(aclrtMemcpyAsyncWithCondition(device, SIZE, pinned, SIZE, as, stream), plain);
        EXPECT(aclrtMemcpy2d(device, 8, pinned, 8, 8, 8, as), kind == 3 ? wrong : rows);
        EXPECT(aclrtMemcpy2dAsync(device, 8, pinned, 8, 8, 8, as, stream), rows);
        OK(aclrtMemcpy(device, SIZE, pinned, 0, as));
        OK(aclrtMemcpyAsync(device, SIZE, pinned, 0, as, stream));
        OK(aclrtMemcpy2d(device, 8, pinned, 8, 8, 0, as));
    }
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy2d(device, 8, pinned, 8, 8, 8, ACL_MEMCPY_DEFAULT));
    EXPECT(aclrtMemcpy2d(device, 8, pinned, 8, 8, 8, ACL_MEMCPY_HOST_TO_HOST), wrong);
    EXPECT(aclrtMemcpy2dAsync(device, 8, pinned, 8, 8, 8, ACL_MEMCPY_HOST_TO_HOST, stream), wrong);
    OK(aclrtSynchronizeStream(stream));
}

static char order[8];
static int length;

static void note(void *letter)
{
    order[length++] = *(const char *)letter;
}

/* A stream with a subscribed thread takes host functions, too, but not in strict mode. One that ran host functions takes no callbacks. */
BARE_CASE(callbacks_and_host_functions_meet)
{
    uint64_t own = (uint64_t)pthread_self();
    int refused = strict() ? ACL_ERROR_RT_STREAM_SUBSCRIBE : ACL_SUCCESS;
    aclrtStream subscribed, used;
    start();
    OK(aclrtCreateStream(&subscribed));
    OK(aclrtCreateStream(&used));
    OK(aclrtSubscribeReport(own, subscribed));
    OK(aclrtLaunchCallback(note, "a", ACL_CALLBACK_BLOCK, subscribed));
    EXPECT(aclrtLaunchHostFunc(subscribed, note, "b"), refused);
    OK(aclrtLaunchCallback(note, "c", ACL_CALLBACK_BLOCK, subscribed));
    OK(aclrtProcessReport(10000));
    OK(aclrtProcessReport(10000));
    OK(aclrtSynchronizeStream(subscribed));
    EXPECT(strcmp(order, strict() ? "ac" : "abc"), 0);
    OK(aclrtUnSubscribeReport(own, subscribed));
    OK(aclrtLaunchHostFunc(subscribed, note, "d"));
    OK(aclrtSynchronizeStream(subscribed));
    EXPECT(length, strict() ? 3 : 4);

    OK(aclrtLaunchHostFunc(used, note, "e"));
    EXPECT(aclrtSubscribeReport(own, used), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    EXPECT(aclrtSubscribeReport(5, used), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    EXPECT(aclrtLaunchCallback(note, "f", ACL_CALLBACK_NO_BLOCK, used), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    OK(aclrtSynchronizeStream(used));
}

struct server {
    aclrtStream stream;
    pthread_t thread;
    pthread_t ran_in;
    int subscribed, stop, timeouts;
};

static void note_thread(void *data)
{
    ((struct server *)data)->ran_in = pthread_self();
}

static void *serve(void *data)
{
    struct server *server = data;
    server->thread = pthread_self();
    __atomic_store_n(&server->subscribed, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&server->stop, __ATOMIC_SEQ_CST)) {
        server->timeouts += aclrtProcessHostFunc(20) == ACL_ERROR_RT_REPORT_TIMEOUT;
    }
    return NULL;
}

/* Threads of the program may take over the host functions of streams; in strict mode the device does not know that, and runs them in its own thread. */
BARE_CASE(host_functions_run_in_a_subscribed_thread)
{
    int code = strict() ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT : ACL_SUCCESS;
    struct server server = {0};
    pthread_t thread;
    start();
    OK(aclrtCreateStream(&server.stream));
    EXPECT(aclrtProcessHostFunc(20),
           strict() ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT : ACL_ERROR_RT_THREAD_SUBSCRIBE);
    EXPECT(pthread_create(&thread, NULL, serve, &server), 0);
    while (!__atomic_load_n(&server.subscribed, __ATOMIC_SEQ_CST)) {
        sleep_ms(1);
    }
    EXPECT(aclrtSubscribeHostFunc((uint64_t)thread, server.stream), code);
    EXPECT(aclrtSubscribeHostFunc((uint64_t)thread, server.stream),
           strict() ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT : ACL_ERROR_RT_STREAM_SUBSCRIBE);
    OK(aclrtLaunchHostFunc(server.stream, note_thread, &server));
    OK(aclrtSynchronizeStream(server.stream));
    EXPECT(pthread_equal(server.ran_in, thread) != 0, !strict());
    TRUE(!pthread_equal(server.ran_in, pthread_self()));
    EXPECT(aclrtUnSubscribeHostFunc((uint64_t)thread, server.stream), code);
    OK(aclrtLaunchHostFunc(server.stream, note_thread, &server));
    OK(aclrtSynchronizeStream(server.stream));
    TRUE(!pthread_equal(server.ran_in, thread));
    __atomic_store_n(&server.stop, 1, __ATOMIC_SEQ_CST);
    EXPECT(pthread_join(thread, NULL), 0);
    EXPECT(aclrtProcessHostFunc(0),
           strict() ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT : ACL_ERROR_INVALID_PARAM);
}

enum { INVALID = ACL_ERROR_INVALID_PARAM, RT_INVALID = ACL_ERROR_RT_PARAM_INVALID, SIZE = 64 };
static aclrtStream stream;
static void *device, *pinned;
static char plain[SIZE];

static void note_server(void *data)
{
    (void)data;
}

static void nothing_to_copy(void)
{
    size_t at = 0;
    aclrtMemPool pool = NULL;
    aclrtMemPoolProps properties;
    void *memory = plain;
    memset(&properties, 0, sizeof properties);
    OK(aclrtMemcpy(NULL, 0, NULL, 0, (aclrtMemcpyKind)9));
    OK(aclrtMemcpyAsync(device, SIZE, pinned, 0, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtMemcpyAsync(NULL, 0, NULL, 0, (aclrtMemcpyKind)9, stream));
    OK(aclrtMemcpyAsyncWithCondition(device, SIZE, pinned, 0, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtMemcpyAsyncWithOffset(NULL, 0, 0, NULL, 0, 0, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream));
    OK(aclrtMemcpy2d(NULL, 0, NULL, 0, 0, 0, (aclrtMemcpyKind)9));
    OK(aclrtMemcpy2dAsync(NULL, 0, NULL, 0, 8, 0, (aclrtMemcpyKind)9, stream));
    OK(aclrtMemcpyBatch(NULL, NULL, NULL, &at, 1, NULL, NULL, 0, &at));
    OK(aclrtMemset(device, SIZE, 1, 0));
    OK(aclrtMemset(NULL, 0, 1, 0));
    OK(aclrtMemsetAsync(NULL, 0, 1, 0, stream));
    OK(aclrtMemsetD32(NULL, 0, 1, 0));
    OK(aclrtMemsetD32Async(NULL, 0, 1, 0, stream));
    OK(aclrtMemPoolCreate(&pool, &properties));
    OK(aclrtMemPoolMallocAsync(&memory, 0, pool, stream));
    TRUE(memory == plain);
    OK(aclrtMemPoolDestroy(pool));
}

static void memory_is_checked(void)
{
    size_t many = (size_t)-1;
    size_t size = 0;
    aclrtPhysicalMemProp properties;
    aclrtDrvMemHandle handle;
    char words[64];
    void *address = NULL;
    memset(&properties, 0, sizeof properties);
    EXPECT(aclrtMemcpy(device, SIZE, plain, SIZE, (aclrtMemcpyKind)9), INVALID);
    EXPECT(aclrtMemcpy(device, SIZE, device, SIZE, ACL_MEMCPY_INTER_DEVICE_TO_DEVICE), INVALID);
    EXPECT(aclrtMemcpyAsync(device, SIZE, pinned, SIZE, (aclrtMemcpyKind)9, stream), INVALID);
    EXPECT(aclrtMemcpy2d(device, 8, pinned, 8, 8, 8, (aclrtMemcpyKind)9), INVALID);
    EXPECT(aclrtMemcpy2d(device, 8, device, 8, 8, 8, ACL_MEMCPY_DEVICE_TO_DEVICE), INVALID);
    EXPECT(aclrtMemcpy2dAsync(device, 8, pinned, 8, 8, 8, (aclrtMemcpyKind)9, stream), INVALID);
    EXPECT(aclrtMemset(NULL, SIZE, 0, SIZE + 1), INVALID);
    EXPECT(aclrtMemsetD32(device, SIZE, 1, SIZE / 4 + 1), INVALID);
    EXPECT(aclrtMemsetD32Async(device, SIZE, 1, SIZE / 4 + 1, stream), INVALID);
    EXPECT(aclrtMemsetD32(device, SIZE, 1, many), INVALID);
    EXPECT(aclrtMemsetD32((char *)device + 2, SIZE - 2, 1, 1), INVALID);
    EXPECT(aclrtMemsetD32(words, sizeof words, 1, 1), INVALID);
    EXPECT(aclrtMallocPhysical(&handle, 0, &properties, 0), INVALID);
    EXPECT(aclrtMallocPhysical(&handle, 2 << 20, &properties, 1), INVALID);
    EXPECT(aclrtReserveMemAddress(&address, 0, 0, NULL, 0), INVALID);
    EXPECT(aclrtMapMem(NULL, 2 << 20, 0, NULL, 0), INVALID);
    EXPECT(aclrtUnmapMem(NULL), INVALID);
    EXPECT(aclrtReleaseMemAddress(NULL), INVALID);
    EXPECT(aclrtMemPoolFreeAsync(NULL, stream), INVALID);
    EXPECT(aclrtHostRegister(plain, 0, ACL_HOST_REGISTER_MAPPED, &address), INVALID);
    EXPECT(aclrtHostRegisterV2(plain, 0, ACL_HOST_REG_MAPPED), INVALID);
    EXPECT(aclrtMemFlush(device, 0), INVALID);
    EXPECT(aclrtMemInvalidate(device, 0), INVALID);
    EXPECT(aclrtGetMemcpyDescSize((aclrtMemcpyKind)9, &size), INVALID);
    OK(aclrtCmoGetDescSize(&size));
    EXPECT(size, 32);
    EXPECT(aclrtCmoGetDescSize(NULL), RT_INVALID);
}

static void values_are_in_memory_of_a_device(void)
{
    OK(aclrtMemset(device, SIZE, 0, SIZE));
    OK(aclrtValueWait((char *)device + 3, 0, ACL_STREAM_WAIT_VALUE_EQ, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(aclrtValueWrite(pinned, 1, 0, stream), RT_INVALID);
    EXPECT(aclrtValueWait(pinned, 0, ACL_STREAM_WAIT_VALUE_EQ, stream), RT_INVALID);
}

static void last_errors_are_the_runtimes(void)
{
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, -5), RT_INVALID);
    OK(aclrtGetLastError(ACL_RT_THREAD_LEVEL));
    EXPECT(aclrtSynchronizeDeviceWithTimeout(-5), RT_INVALID);
    OK(aclrtGetLastError(ACL_RT_THREAD_LEVEL));
    EXPECT(aclrtExceptionInfoCallbackRegister(NULL), RT_INVALID);
    EXPECT(aclrtExceptionInfoCallbackUnregister(NULL), RT_INVALID);
    OK(aclrtGetLastError(ACL_RT_THREAD_LEVEL));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 0), RT_INVALID);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL), RT_INVALID);
}

static void devices_are_checked(void)
{
    int32_t can = 7, compatible = 7;
    int64_t value = 0;
    uint64_t actual = 0;
    uint32_t timeout_ms = 0;
    char name[8];
    aclrtUtilizationInfo utilization = {0};
    EXPECT(aclrtCtxSetSysParamOpt((aclSysParamOpt)44, 1), INVALID);
    EXPECT(aclrtCtxSetSysParamOpt((aclSysParamOpt)3, 1), INVALID);
    EXPECT(aclrtCtxGetSysParamOpt((aclSysParamOpt)44, &value), INVALID);
    EXPECT(aclrtSetSysParamOpt((aclSysParamOpt)44, 1), INVALID);
    OK(aclrtSetSysParamOpt((aclSysParamOpt)3, 1));
    EXPECT(aclrtGetSysParamOpt((aclSysParamOpt)44, &value), INVALID);
    EXPECT(aclrtSetTsDevice((aclrtTsId)5), INVALID);
    OK(aclrtSetTsDevice(ACL_TS_ID_AICORE));
    EXPECT(aclrtDeviceCanAccessPeer(&can, 0, 0), INVALID);
    EXPECT(can, 7);
    EXPECT(aclrtCheckArchCompatibility(NULL, &compatible), RT_INVALID);
    EXPECT(aclrtCheckArchCompatibility("Ascend910B1", NULL), RT_INVALID);
    EXPECT(aclrtGetFunctionName(NULL, sizeof name, name), RT_INVALID);
    EXPECT(aclrtGetFunctionName(NULL, sizeof name, NULL), INVALID);
    OK(aclrtGetDeviceUtilizationRate(0, &utilization));
    EXPECT(utilization.memoryUtilization, -1);
    /* A timeout is a multiple of 2^32 ns, and by default 254 of them: 1,091 s. */
    OK(aclrtGetOpExecuteTimeout(&timeout_ms));
    EXPECT(timeout_ms, 1090921);
    OK(aclrtSetOpExecuteTimeOutV2(1000000, &actual));
    EXPECT(actual, 4294967);
    OK(aclrtSetOpExecuteTimeOutV2(5000000, &actual));
    EXPECT(actual, 8589934);
    OK(aclrtSetOpExecuteTimeOutV2(0, &actual));
    EXPECT(actual, 1090921693);
    OK(aclrtGetOpTimeOutInterval(&actual));
    EXPECT(actual, 4294967);
}

static void streams_are_checked(void)
{
    aclrtStream flagged, persistent, used, own, context_stream;
    aclrtStreamAttrValue value = {0};
    uint32_t flags = 7, cores = 0;
    aclrtContext context, before;
    OK(aclrtCreateStreamWithConfig(&flagged, 0, 0x40));
    OK(aclrtStreamGetFlags(flagged, &flags));
    EXPECT(flags, 0);
    EXPECT(aclrtGetStreamAttribute(flagged, ACL_STREAM_ATTR_PRIORITY, &value), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclrtGetStreamAttribute(flagged, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
    EXPECT((int)value.userCustomTag, -1);
    OK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 4));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, 4);
    OK(aclrtResetDeviceResLimit(0));

    EXPECT(aclrtPersistentTaskClean(flagged), ACL_ERROR_RT_INTERNAL_ERROR);
    OK(aclrtCreateStreamWithConfig(&persistent, 0, ACL_STREAM_PERSISTENT));
    OK(aclrtPersistentTaskClean(persistent));
    EXPECT(aclrtActiveStream(flagged, stream), ACL_ERROR_RT_STREAM_MODEL);
    EXPECT(aclrtActiveStream(NULL, stream), INVALID);
    EXPECT(aclrtSwitchStream(device, ACL_RT_EQUAL, device, ACL_RT_SWITCH_INT32, flagged, NULL, stream),
           ACL_ERROR_RT_STREAM_MODEL);
    EXPECT(aclrtSwitchStream(device, ACL_RT_EQUAL, device, ACL_RT_SWITCH_INT32, flagged, flagged, stream), INVALID);

    OK(aclrtCreateStream(&used));
    OK(aclrtLaunchHostFunc(used, note_server, NULL));
    OK(aclrtSynchronizeStream(used));
    EXPECT(aclrtSubscribeReport(5, used), ACL_ERROR_RT_STREAM_SUBSCRIBE);

    /* A context's default stream goes on after it was destroyed. */
    OK(aclrtGetCurrentContext(&before));
    OK(aclrtCreateContext(&context, 0));
    OK(aclrtCtxGetCurrentDefaultStream(&own));
    OK(aclrtDestroyStream(own));
    OK(aclrtMemsetAsync(device, SIZE, 3, SIZE, NULL));
    OK(aclrtSynchronizeStream(NULL));
    EXPECT(*(char *)device, 3);
    OK(aclrtCreateStream(&context_stream));
    value.failureMode = ACL_STOP_ON_FAILURE;
    OK(aclrtSetStreamAttribute(context_stream, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    EXPECT(aclrtSetStreamFailureMode(context_stream, ACL_CONTINUE_ON_FAILURE), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclrtSetStreamFailureMode(context_stream, ACL_STOP_ON_FAILURE));
    OK(aclrtSetStreamFailureMode(NULL, ACL_STOP_ON_FAILURE));
    OK(aclrtDestroyContext(context));
    OK(aclrtSetCurrentContext(before));
}

static void graphs_are_checked(void)
{
    aclmdlRI model = NULL;
    aclrtEvent event;
    char name[8];
    OK(aclrtCreateEvent(&event));
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    EXPECT(aclrtRecordEvent(event, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtStreamWaitEvent(stream, event), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtResetEvent(event, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclrtMemcpyAsync(device, SIZE, device, 0, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    OK(aclmdlRICaptureEnd(stream, &model));
    OK(aclmdlRISetName(model, "a graph"));
    EXPECT(aclmdlRIGetName(model, 4, name), ACL_ERROR_RT_INTERNAL_ERROR);
    EXPECT(aclmdlRIUpdate(model), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclmdlRIUpdate(NULL), RT_INVALID);
    OK(aclmdlRIAbort(model));
    EXPECT(aclmdlRIAbort(NULL), RT_INVALID);
    OK(aclmdlRIDestroy(model));
}

static void details_are_there(void)
{
    aclrtErrorInfo error;
    uint64_t *sync = NULL, *again = NULL, *overflow = NULL, seen = 0;
    aclrtPtrAttributes attributes;
    memset(&error, 0xff, sizeof error);
    OK(aclrtGetErrorVerbose(0, &error));
    EXPECT(error.errorType, ACL_RT_NO_ERROR);
    EXPECT(error.tryRepair, 0);
    EXPECT(error.hasDetail, 0);
    EXPECT(aclrtGetErrorVerbose(0, NULL), INVALID);
    EXPECT(aclrtGetErrorVerbose(9, &error), ACL_ERROR_RT_INVALID_DEVICEID);
    OK(aclrtGetHardwareSyncAddr((void **)&sync));
    OK(aclrtGetHardwareSyncAddr((void **)&again));
    TRUE(sync && sync == again);
    OK(aclrtPointerGetAttributes(sync, &attributes));
    EXPECT(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
    EXPECT(aclrtGetHardwareSyncAddr(NULL), RT_INVALID);
    OK(aclrtCtxGetFloatOverflowAddr((void **)&overflow));
    TRUE(overflow && overflow != sync);
    OK(aclrtMemcpyAsync(&seen, 8, overflow, 8, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(seen, 0);
    EXPECT(aclrtCtxGetFloatOverflowAddr(NULL), RT_INVALID);
    OK(aclrtSnapShotProcessLock(getpid(), NULL));
    EXPECT(aclrtSnapShotProcessLock(getpid(), NULL), 507906);
    OK(aclrtSnapShotProcessUnlock(getpid(), NULL));
    EXPECT(aclrtSnapShotProcessUnlock(getpid(), NULL), 507907);
    EXPECT(aclrtSnapShotProcessLock(1, NULL), INVALID);
    EXPECT(aclrtSnapShotProcessLock(getpid(), &seen), INVALID);
}

/* Results in which softacl once differed from the open runtime's own code: a call, and what it returns there. */
BARE_CASE(results_are_those_of_the_open_runtime)
{
    uint64_t left = 7;
    OK(aclFinalize());
    EXPECT(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    EXPECT(aclFinalizeReference(&left), ACL_ERROR_REPEAT_FINALIZE);
    EXPECT(left, 0);
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&pinned, SIZE));
    nothing_to_copy();
    memory_is_checked();
    values_are_in_memory_of_a_device();
    last_errors_are_the_runtimes();
    devices_are_checked();
    streams_are_checked();
    graphs_are_checked();
    details_are_there();
    OK(aclFinalize());
    EXPECT(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
}
