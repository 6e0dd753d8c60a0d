#include "../cases.h"
#include <pthread.h>
#include <unistd.h>

static void *look(void *expected)
{
    aclrtContext context = NULL;
    EXPECT(aclrtGetCurrentContext(&context), ACL_ERROR_RT_CONTEXT_NULL);
    OK(aclrtSetDevice(0));
    OK(aclrtGetCurrentContext(&context));
    TRUE(context == *(aclrtContext *)expected);
    OK(aclrtResetDevice(0));
    return NULL;
}

/* Each thread has its own current context; threads that set one device share its default context. */
CASE(contexts_are_current_per_thread)
{
    aclrtContext own = NULL, second = NULL, now = NULL;
    pthread_t thread;
    OK(aclrtGetCurrentContext(&own));
    pthread_create(&thread, NULL, look, &own);
    pthread_join(thread, NULL);
    OK(aclrtCreateContext(&second, 1));
    OK(aclrtGetCurrentContext(&now));
    TRUE(now == second && now != own);
    int32_t device = -1;
    OK(aclrtGetDevice(&device));
    EXPECT(device, 1);
    OK(aclrtSetCurrentContext(own));
    OK(aclrtGetDevice(&device));
    EXPECT(device, 0);
    OK(aclrtSetCurrentContext(second));
    EXPECT(aclrtDestroyContext(own), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtDestroyContext(NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtSetCurrentContext(NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclrtDestroyContext(second));
    EXPECT(aclrtGetCurrentContext(&now), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtDestroyContext(second), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtSetCurrentContext(second), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtSetCurrentContext(&device), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtDestroyContext(&device), ACL_ERROR_RT_CONTEXT_NULL);
    OK(aclrtSetCurrentContext(own));
}

/* SynchronizeDevice waits for all streams of the current context and for no other. */
CASE(device_synchronisation_covers_one_context)
{
    aclrtContext first, second;
    aclrtStream stream;
    struct gate inside = {0, 0}, outside = {0, 0};
    OK(aclrtGetCurrentContext(&first));
    OK(aclrtCreateContext(&second, 0));
    OK(aclrtLaunchHostFunc(NULL, wait_at_gate, &outside));
    OK(aclrtSetCurrentContext(first));
    OK(aclrtSynchronizeDevice());
    OK(aclrtCreateStream(&stream));
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &inside));
    EXPECT(aclrtSynchronizeDeviceWithTimeout(20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT(aclrtSynchronizeDeviceWithTimeout(0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtSynchronizeDeviceWithTimeout(-2), ACL_ERROR_RT_PARAM_INVALID);
    open_gate(&inside);
    OK(aclrtSynchronizeDeviceWithTimeout(-1));
    EXPECT(inside.entered, 1);
    open_gate(&outside);
    OK(aclrtDestroyContext(second));
    EXPECT(outside.entered, 1);
}

/* aclInit may be repeated; aclFinalize ends all, aclFinalizeReference one. */
BARE_CASE(init_is_counted)
{
    uint64_t left = 99;
    OK(aclFinalize());
    EXPECT(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    EXPECT(aclFinalizeReference(&left), ACL_ERROR_REPEAT_FINALIZE);
    EXPECT(left, 0);
    OK(aclInit(NULL));
    EXPECT(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE);
    OK(aclFinalizeReference(&left));
    EXPECT(left, 2);
    OK(aclFinalizeReference(NULL));
    OK(aclFinalizeReference(&left));
    EXPECT(left, 0);
    EXPECT(aclFinalizeReference(&left), ACL_ERROR_REPEAT_FINALIZE);
    OK(aclInit(NULL));
    EXPECT(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE);
    OK(aclFinalize());
    EXPECT(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    OK(aclInit(NULL));
    OK(aclFinalizeReference(NULL));
    EXPECT(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
}

/* Calls that need a context say that there is none. */
BARE_CASE(nothing_works_without_a_context)
{
    aclrtStream stream = NULL;
    aclrtEvent event = NULL;
    aclrtContext context = NULL;
    void *memory = NULL;
    char byte = 0;
    OK(aclInit(NULL));
    EXPECT(aclrtCreateStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtCreateEvent(&event), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtMallocHost(&memory, 64), ACL_ERROR_RT_CONTEXT_NULL);
    /* No device has a part in this. */
    OK(aclrtMemcpy(&byte, 1, &byte, 1, ACL_MEMCPY_HOST_TO_HOST));
    EXPECT(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtSynchronizeStream(NULL), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtGetCurrentContext(&context), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtCtxGetCurrentDefaultStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
}

/* NULL means the default stream of the current context; it cannot be destroyed and synchronises with nobody. */
CASE(null_is_the_default_stream)
{
    aclrtStream own = NULL, other = NULL, stream = NULL;
    aclrtContext first, second;
    struct gate gate = {0, 0};
    int32_t id = -1, same = -2, different = -3;
    uint32_t flags = 9;
    void *memory;
    OK(aclrtGetCurrentContext(&first));
    OK(aclrtCtxGetCurrentDefaultStream(&own));
    OK(aclrtStreamGetId(NULL, &id));
    OK(aclrtStreamGetId(own, &same));
    EXPECT(id, same);
    OK(aclrtStreamGetFlags(NULL, &flags));
    EXPECT(flags, 3);
    EXPECT(aclrtDestroyStream(NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclrtDestroyStream(own));
    OK(aclrtCreateContext(&second, 0));
    OK(aclrtCtxGetCurrentDefaultStream(&other));
    OK(aclrtStreamGetId(NULL, &different));
    TRUE(other != own && different != id);
    OK(aclrtSetCurrentContext(first));
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtLaunchHostFunc(NULL, wait_at_gate, &gate));
    OK(aclrtMemsetAsync(memory, 64, 1, 64, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(gate.open, 0);
    EXPECT(aclrtSynchronizeStreamWithTimeout(own, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(NULL));
    EXPECT(gate.entered, 1);
}

/* Peer access can be asked for, enabled and disabled. */
CASE(peers_are_enabled_in_one_direction)
{
    int32_t can = -1, status = -1;
    OK(aclrtDeviceCanAccessPeer(&can, 0, 1));
    EXPECT(can, 1);
    EXPECT(aclrtDeviceCanAccessPeer(&can, 0, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT(can, 1);
    EXPECT(aclrtDeviceCanAccessPeer(NULL, 0, 1), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtDeviceCanAccessPeer(&can, 0, 5), ACL_ERROR_RT_INVALID_DEVICEID);
    OK(aclrtDeviceEnablePeerAccess(1, 0));
    EXPECT(aclrtDeviceEnablePeerAccess(0, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtDeviceEnablePeerAccess(1, 1), ACL_ERROR_FEATURE_UNSUPPORTED);
    EXPECT(aclrtDeviceDisablePeerAccess(0), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtDevicePeerAccessStatus(0, 1, NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclrtDevicePeerAccessStatus(0, 1, &status));
    EXPECT(status, 1);
    OK(aclrtDevicePeerAccessStatus(1, 0, &status));
    EXPECT(status, 0);
    OK(aclrtDeviceDisablePeerAccess(1));
    EXPECT(aclrtDeviceDisablePeerAccess(1), ACL_ERROR_RT_PARAM_INVALID);
}

/* The last ResetDevice completes the work and ends the default context with its streams. */
CASE(reset_waits_and_takes_the_streams_away)
{
    aclrtStream stream;
    aclrtStreamStatus state;
    int calls = 0;
    OK(aclrtCreateStream(&stream));
    for (int i = 0; i < 10; i++) {
        OK(aclrtLaunchHostFunc(i % 2 ? stream : NULL, count_call, &calls));
    }
    OK(aclrtResetDevice(0));
    EXPECT(calls, 10);
    EXPECT(aclrtStreamQuery(stream, &state), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
    OK(aclFinalize());
}

/* SetDevice and ResetDevice are counted per device; Force ends all at once. */
BARE_CASE(set_and_reset_are_counted)
{
    int32_t device = -1, active = -1;
    uint32_t flags = 7;
    OK(aclInit(NULL));
    EXPECT(aclrtResetDevice(0), 507007);
    EXPECT(aclrtGetPrimaryCtxState(0, &flags, &active), ACL_ERROR_INVALID_PARAM);
    OK(aclrtGetPrimaryCtxState(0, NULL, &active));
    EXPECT(active, 0);
    OK(aclrtSetDevice(0));
    OK(aclrtSetDevice(0));
    OK(aclrtResetDevice(0));
    OK(aclrtGetDevice(&device));
    EXPECT(device, 0);
    OK(aclrtGetPrimaryCtxState(0, NULL, &active));
    EXPECT(active, 1);
    OK(aclrtResetDevice(0));
    EXPECT(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtResetDevice(0), 507007);
    OK(aclrtSetDevice(0));
    OK(aclrtSetDevice(0));
    OK(aclrtSetDevice(0));
    OK(aclrtResetDevice(0));
    OK(aclrtResetDeviceForce(0));
    EXPECT(aclrtResetDeviceForce(0), 507007);
    EXPECT(aclrtResetDevice(0), 507007);
    EXPECT(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    OK(aclrtSetDevice(0));
    OK(aclrtGetDevice(&device));
}

static int states[4], created, destroyed, last_device = -1;
static aclrtStream last_stream;

static void device_state(int32_t device, aclrtDeviceState state, void *unused)
{
    (void)unused;
    last_device = device;
    states[state]++;
}

static void stream_state(aclrtStream stream, aclrtStreamState state, void *unused)
{
    (void)unused;
    last_stream = stream;
    created += state == ACL_RT_STREAM_STATE_CREATE_POST;
    destroyed += state == ACL_RT_STREAM_STATE_DESTROY_PRE;
}

/* Registered callbacks hear of devices and streams coming and going. */
BARE_CASE(state_callbacks_are_told)
{
    aclrtStream stream;
    OK(aclInit(NULL));
    OK(aclrtRegDeviceStateCallback("test", device_state, NULL));
    EXPECT(aclrtRegDeviceStateCallback("test", device_state, NULL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtRegDeviceStateCallback(NULL, device_state, NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclrtRegStreamStateCallback("test", stream_state, NULL));
    OK(aclrtSetDevice(1));
    EXPECT(states[0], 1);
    EXPECT(states[1], 1);
    EXPECT(last_device, 1);
    /* The default stream, and one that the runtime keeps for itself. */
    EXPECT(created, 2);
    OK(aclrtCreateStream(&stream));
    EXPECT(created, 3);
    TRUE(last_stream == stream);
    OK(aclrtDestroyStream(stream));
    EXPECT(destroyed, 1);
    OK(aclrtResetDevice(1));
    EXPECT(states[2], 1);
    EXPECT(states[3], 1);
    EXPECT(destroyed, 3);
    OK(aclrtRegDeviceStateCallback("test", NULL, NULL));
    OK(aclrtSetDevice(1));
    EXPECT(states[0], 1);
}

/* Work goes only to streams of the current context; waiting works from any. */
CASE(streams_belong_to_their_context)
{
    aclrtContext first, second;
    aclrtStream stream;
    aclrtEvent event;
    int calls = 0;
    void *memory;
    OK(aclrtGetCurrentContext(&first));
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtCreateContext(&second, 0));
    EXPECT(aclrtRecordEvent(event, stream), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT(aclrtStreamWaitEvent(stream, event), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT(aclrtResetEvent(event, stream), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT(aclrtLaunchHostFunc(stream, count_call, &calls), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT(aclrtMemsetAsync(memory, 64, 1, 64, stream), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT(aclrtDestroyStream(stream), ACL_ERROR_RT_STREAM_CONTEXT);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtSetCurrentContext(first));
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtDestroyStream(stream));
}

/* The configuration of aclInit may name the device of threads that set none. */
BARE_CASE(the_configuration_names_a_default_device)
{
    char path[] = "/tmp/softacl-config-XXXXXX";
    static const char text[] = "{\"defaultDevice\":{\"default_device\":\"1\"}}";
    int file = mkstemp(path);
    int32_t device = -1;
    aclrtStream stream;
    EXPECT(write(file, text, sizeof text - 1), sizeof text - 1);
    close(file);
    EXPECT(aclInit("/nonexistent/acl.json"), ACL_ERROR_INVALID_FILE);
    OK(aclInit(path));
    unlink(path);
    OK(aclrtCreateStream(&stream));
    OK(aclrtGetDevice(&device));
    EXPECT(device, 1);
    OK(aclrtSetDevice(0));
    OK(aclrtGetDevice(&device));
    EXPECT(device, 0);
}

/* ASCEND_RT_VISIBLE_DEVICES selects devices and numbers them anew.
   SOFTACL: devices=4 */
BARE_CASE(visible_devices_are_renumbered)
{
    uint32_t count = 0;
    int32_t physical = -1, user = -1;
    setenv("ASCEND_RT_VISIBLE_DEVICES", "1,3,9", 1);
    OK(aclInit(NULL));
    OK(aclrtGetDeviceCount(&count));
    EXPECT(count, 2);
    EXPECT(aclrtSetDevice(2), ACL_ERROR_RT_INVALID_DEVICEID);
    OK(aclrtSetDevice(1));
    OK(aclrtGetPhyDevIdByUserDevId(1, &physical));
    EXPECT(physical, 3);
    OK(aclrtGetUserDevIdByPhyDevId(1, &user));
    EXPECT(user, 0);
    EXPECT(aclrtGetUserDevIdByPhyDevId(2, &user), ACL_ERROR_RT_INVALID_DEVICEID);
}

/* Only the devices that are there can be set. */
BARE_CASE(wrong_devices_are_refused)
{
    uint32_t count = 0;
    int32_t device = -1;
    aclrtContext context;
    aclrtRunMode mode = ACL_DEVICE;
    OK(aclInit(NULL));
    OK(aclrtGetDeviceCount(&count));
    EXPECT(count, 2);
    EXPECT(aclrtSetDevice(2), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT(aclrtResetDevice(2), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT(aclrtCreateContext(&context, 9), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtGetDevice(NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtGetDeviceCount(NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclrtSetDevice(1));
    OK(aclrtGetDevice(&device));
    EXPECT(device, 1);
    OK(aclrtGetRunMode(&mode));
    EXPECT(mode, ACL_HOST);
    EXPECT(strncmp(aclrtGetSocName(), "Ascend910B", 10), 0);
}
