#include "../cases.h"
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef int rt;
int halGetDeviceInfo(uint32_t id, int32_t module, int32_t info, int64_t *value);

/* A driver may not tell clocks: programs must do without.
   SOFTACL: driver=fails */
CASE(a_driver_that_fails_tells_no_clock)
{
    int64_t value = 5;
    EXPECT(halGetDeviceInfo(0, 0, 13, &value), 4);
    EXPECT(halGetDeviceInfo(0, 0, 25, &value), 4);
    EXPECT(value, 5);
    EXPECT(halGetDeviceInfo(9, 0, 13, &value), 2);
}

/* The child of a fork neither hangs nor shares the parent's streams, and can initialise anew. */
BARE_CASE(a_forked_child_starts_over)
{
    aclrtStream stream;
    void *memory;
    int status = -1;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemsetAsync(memory, 64, 1, 64, stream));
    OK(aclrtSynchronizeStream(stream));
    pid_t child = fork();
    if (child == 0) {
        EXPECT(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
        EXPECT(aclrtMemsetAsync(memory, 64, 1, 64, NULL), ACL_ERROR_RT_CONTEXT_NULL);
        start();
        OK(aclrtCreateStream(&stream));
        OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMemsetAsync(memory, 64, 1, 64, stream));
        OK(aclrtSynchronizeStream(stream));
        exit(failures != 0);
    }
    EXPECT(waitpid(child, &status, 0), child);
    EXPECT(status, 0);
    OK(aclrtSynchronizeStream(stream));
}

static int over;

static void *allocate(void *data)
{
    void *memory;
    (void)data;
    OK(aclrtSetDevice(1));
    __atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    return NULL;
}

/* While a process is locked for a snapshot, calls that change something on its devices wait, and questions do not. */
CASE(a_locked_process_waits)
{
    pthread_t thread;
    aclrtEvent event;
    aclrtStream stream;
    aclrtEventRecordedStatus status;
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtSnapShotProcessLock(getpid(), NULL));
    EXPECT(pthread_create(&thread, NULL, allocate, NULL), 0);
    sleep_ms(50);
    OK(aclrtQueryEventStatus(event, &status));
    EXPECT(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    EXPECT(__atomic_load_n(&over, __ATOMIC_SEQ_CST), 0);
    OK(aclrtSnapShotProcessUnlock(getpid(), NULL));
    EXPECT(pthread_join(thread, NULL), 0);
    EXPECT(over, 1);
}

static aclrtStream stream;
static struct gate never;

static void *synchronise(void *unused)
{
    aclrtSynchronizeStream(stream);
    return unused;
}

static void *leave(void *unused)
{
    exit(3);
    return unused;
}

static void busy(void)
{
    pthread_t thread;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &never));
    OK(aclrtSubscribeReport((uint64_t)pthread_self(), NULL));
    OK(aclrtLaunchCallback(wait_at_gate, &never, ACL_CALLBACK_BLOCK, NULL));
    pthread_create(&thread, NULL, synchronise, NULL);
    sleep_ms(20);
}

static int status_of(int way)
{
    int status = -1;
    pthread_t thread;
    pid_t child = fork();
    if (child == 0) {
        busy();
        if (failures != 0) {
            _exit(1);
        }
        if (way == 1) {
            pthread_create(&thread, NULL, leave, NULL);
            pthread_join(thread, NULL);
        }
        exit(2);
    }
    EXPECT(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A process ends at once, with work queued, callbacks waiting and threads asleep. */
BARE_CASE(a_process_may_end_at_any_time)
{
    EXPECT(status_of(0), 2);
    EXPECT(status_of(1), 3);
    OK(aclFinalize());
}

/* An unknown option is named with the known ones, and nothing works after it.
   SOFTACL: frobnicate=1 */
BARE_CASE(an_invalid_option_ends_in_aclinit)
{
    int32_t device;
    EXPECT(aclInit(NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclInit(NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtSetDevice(0), ACL_ERROR_UNINITIALIZE);
    EXPECT(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
}

/* A driver may not tell clocks: programs must do without.
   SOFTACL: driver=unsupported */
CASE(an_old_driver_tells_no_clock)
{
    int64_t value = 5;
    EXPECT(halGetDeviceInfo(0, 0, 13, &value), 65534);
    EXPECT(halGetDeviceInfo(0, 0, 25, &value), 65534);
    EXPECT(value, 5);
    EXPECT(halGetDeviceInfo(9, 0, 13, &value), 2);
}

/* No stream is capturing; the default stream cannot be asked by NULL. */
CASE(capture_is_answered_with_none)
{
    aclrtStream stream;
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
    aclmdlRI model = &stream;
    OK(aclrtCreateStream(&stream));
    OK(aclmdlRICaptureGetInfo(stream, &status, &model));
    EXPECT(status, ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    TRUE(model == NULL);
    OK(aclmdlRICaptureGetInfo(stream, &status, NULL));
    EXPECT(aclmdlRICaptureGetInfo(NULL, &status, &model), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclmdlRICaptureGetInfo(stream, NULL, NULL), ACL_ERROR_INVALID_PARAM);
}

/* Each device reads its own clock.
   SOFTACL: clock_offset_ns=1000000000/-500000000,drift_ppm=100/0,tick_ns=1000 */
CASE(device_clocks_have_offset_drift_and_tick)
{
    aclrtEvent event;
    uint64_t stamp = 0;
    for (int device = 0; device < 2; device++) {
        OK(aclrtSetDevice(device));
        OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_TIME_LINE));
        uint64_t before = host_ns();
        OK(aclrtRecordEvent(event, NULL));
        OK(aclrtSynchronizeEvent(event));
        uint64_t after = host_ns();
        OK(aclrtEventGetTimestamp(event, &stamp));
        double offset = device == 0 ? 1e9 : -5e8, rate = device == 0 ? 1.0001 : 1.0;
        double least = ((double)before + offset) * rate, most = ((double)after + offset) * rate;
        TRUE((double)stamp * 1e3 >= least - 1e3 && (double)stamp * 1e3 <= most);
    }
}

/* Times of tasks are the model's to the tick, whatever the host is doing.
   SOFTACL: tick_ns=1,h2d_mbps=1000,d2h_mbps=500,copy_ns=700,memset_ns=300,memset_mbps=2000 */
CASE(durations_follow_the_model)
{
    enum { SIZE = 100000 };
    void *host, *device;
    aclrtStream stream;
    aclrtEvent events[4];
    float ms = 0;
    struct gate gate = {0, 0};
    OK(aclrtCreateStream(&stream));
    OK(aclrtMallocHost(&host, SIZE));
    OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < 4; i++) {
        OK(aclrtCreateEventExWithFlag(&events[i], ACL_EVENT_TIME_LINE));
    }
    /* All is queued behind a task that ends later, so that no submission time plays a part. */
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    OK(aclrtRecordEvent(events[0], stream));
    OK(aclrtMemcpyAsync(device, SIZE, host, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtRecordEvent(events[1], stream));
    OK(aclrtMemcpyAsync(host, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtRecordEvent(events[2], stream));
    OK(aclrtMemsetAsync(device, SIZE, 0, SIZE, stream));
    OK(aclrtRecordEvent(events[3], stream));
    open_gate(&gate);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtEventElapsedTime(&ms, events[0], events[1]));
    EXPECT((long long)(ms * 1e6f + 0.5f), 100700);
    OK(aclrtEventElapsedTime(&ms, events[1], events[2]));
    EXPECT((long long)(ms * 1e6f + 0.5f), 200700);
    OK(aclrtEventElapsedTime(&ms, events[2], events[3]));
    EXPECT((long long)(ms * 1e6f + 0.5f), 50300);
}

int aclgrphProfInit(const char *path, uint32_t length);
void *aclgrphProfCreateConfig(uint32_t *devices, uint32_t count, uint32_t metrics, void *events, uint64_t types);
int aclgrphProfStart(void *config);
int aclgrphProfStop(void *config);
int aclgrphProfDestroyConfig(void *config);
int aclgrphProfFinalize(void);

typedef struct {
    int32_t host_pid;
    uint32_t chip;
    uint32_t kind;
    uint32_t device;
} host_pid_info;

int rtBindHostPid(host_pid_info info);
int rtUnbindHostPid(host_pid_info info);

/* The profiler of graphs is accepted. Processes cannot be bound, whatever they are to be bound by. */
CASE(profilers_of_graphs_are_accepted)
{
    uint32_t device = 0;
    OK(aclgrphProfInit("here", 4));
    void *config = aclgrphProfCreateConfig(&device, 1, 0, NULL, 1);
    TRUE(config != NULL);
    OK(aclgrphProfStart(config));
    OK(aclgrphProfStop(config));
    OK(aclgrphProfDestroyConfig(config));
    OK(aclgrphProfFinalize());

    host_pid_info info = {1, 0, 0, 0};
    EXPECT(rtBindHostPid(info), 207000);
    EXPECT(rtUnbindHostPid(info), 207000);
}

static int64_t now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* The counter is read at some moment of the call, which may be long.
   SOFTACL: driver_ns=200000,driver_jitter_ns=100000,tick_ns=1 */
CASE(the_driver_may_take_its_time)
{
    int late = 0;
    for (int i = 0; i < 50; i++) {
        int64_t value = 0, before = now(), after;
        EXPECT(halGetDeviceInfo(0, 0, 13, &value), 0);
        after = now();
        TRUE(before <= value && value <= after);
        TRUE(after - before >= 200000);
        late += value - before > 120000;
    }
    TRUE(late > 0);
}

int rtSetDefaultDeviceId(int32_t id);

static void *work(void *unused)
{
    (void)unused;
    aclrtStream stream;
    aclrtContext context = NULL;
    void *memory;
    int32_t device = -1;
    OK(aclrtGetCurrentContext(&context));
    OK(aclrtCreateStream(&stream));
    OK(aclrtGetDevice(&device));
    EXPECT(device, 1);
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemsetAsync(memory, 64, 7, 64, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(((char *)memory)[63], 7);
    return NULL;
}

/* A thread that set no device works on the default one, once somebody below has named it. */
BARE_CASE(threads_live_on_the_default_device)
{
    pthread_t thread;
    aclrtStream stream;
    OK(aclInit(NULL));
    EXPECT(aclrtCreateStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(rtSetDefaultDeviceId(77), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT(rtSetDefaultDeviceId(1), 0);
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
}

/* Version and capability queries answer. */
CASE(versions_and_capabilities)
{
    int32_t major = 0, minor = 0, patch = -1, number = 0, value = -1;
    int64_t cores = 0;
    aclCANNPackageVersion version;
    const aclCannAttr *list = NULL;
    size_t count = 0;
    OK(aclrtGetVersion(&major, &minor, &patch));
    EXPECT(major, 1);
    EXPECT(minor, 17);
    EXPECT(aclrtGetVersion(NULL, &minor, &patch), ACL_ERROR_INVALID_PARAM);
    OK(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version));
    TRUE(version.majorVersion[0] == '9' && strchr(version.version, '.'));
    OK(aclsysGetVersionNum((char *)"runtime", &number));
    TRUE(number > 0);
    OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &cores));
    TRUE(cores > 0);
    EXPECT(aclrtGetDeviceInfo(9, ACL_DEV_ATTR_VECTOR_CORE_NUM, &cores), ACL_ERROR_RT_INVALID_DEVICEID);
    OK(aclGetCannAttributeList(&list, &count));
    TRUE(count > 0 && list != NULL);
    OK(aclGetCannAttribute(ACL_CANN_ATTR_BF16, &value));
    EXPECT(value, 1);
    EXPECT(aclDataTypeSize(ACL_FLOAT16), 2);
    EXPECT(aclDataTypeSize(ACL_DOUBLE), 8);
    aclDataBuffer *buffer = aclCreateDataBuffer(&cores, 8);
    TRUE(buffer && aclGetDataBufferAddr(buffer) == &cores && aclGetDataBufferSizeV2(buffer) == 8);
    OK(aclUpdateDataBuffer(buffer, &value, 4));
    EXPECT(aclGetDataBufferSizeV2(buffer), 4);
    OK(aclDestroyDataBuffer(buffer));
}

struct binary { uint32_t magic, version; const void *code; uint64_t length; };
rt rtDevBinaryRegister(const struct binary *binary, void **handle);
rt rtDevBinaryUnRegister(void *handle);
rt rtFunctionRegister(void *binary, const void *stub, const char *name, const void *info, uint32_t mode);
rt rtKernelLaunch(const void *stub, uint32_t blocks, void *args, uint32_t size, void *sm, void *stream);
uint64_t MsprofGetHashId(const char *text, size_t length);
int32_t MsprofRegisterCallback(uint32_t module, void *handler);
int32_t MsprofReportApi(uint32_t ages, const void *report);
int32_t MsprofReportCompactInfo(uint32_t ages, void *report, uint32_t size);
int32_t MsprofReportAdditionalInfo(uint32_t ages, void *report, uint32_t size);
uint64_t MsprofSysCycleTime(void);
int32_t HcclSetConfig(int32_t config, int64_t value);
extern aclError aclrtSetSysParamOpt(aclSysParamOpt option, int64_t value);

static void system_parameters(void)
{
    aclrtContext first, context;
    int64_t value = 9;
    OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    EXPECT(value, 0);
    EXPECT(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
    OK(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
    OK(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    EXPECT(value, 1);
    value = 9;
    OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    EXPECT(value, 1);
    OK(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0));
    OK(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    EXPECT(value, 1);
    OK(aclrtGetCurrentContext(&first));
    OK(aclrtCreateContext(&context, 0));
    EXPECT(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
    OK(aclrtDestroyContext(context));
    OK(aclrtSetCurrentContext(first));
}

/* Functions that a PyTorch extension binds when it is loaded, of libraries below AscendCL. */
CASE(what_pytorch_binds_at_load_is_there)
{
    static const char stub, code[8];
    struct binary binary = {0, 0, code, sizeof code};
    void *handle = NULL;
    uint64_t before;
    system_parameters();

    EXPECT(rtDevBinaryRegister(NULL, &handle), ACL_ERROR_RT_PARAM_INVALID);
    OK(rtDevBinaryRegister(&binary, &handle));
    OK(rtFunctionRegister(handle, &stub, "kernel_of_a_card", "kernel_of_a_card", 0));
    EXPECT(rtFunctionRegister(handle, NULL, "kernel_of_a_card", NULL, 0), ACL_ERROR_RT_PARAM_INVALID);
    OK(rtKernelLaunch(&stub, 1, NULL, 0, NULL, NULL));
    OK(aclrtSynchronizeStream(NULL));
    OK(rtDevBinaryUnRegister(handle));
    EXPECT(rtDevBinaryUnRegister(handle), ACL_ERROR_RT_INVALID_HANDLE);

    TRUE(MsprofGetHashId("abc", 3) == MsprofGetHashId("abcd", 3));
    TRUE(MsprofGetHashId("abc", 3) != MsprofGetHashId("abd", 3));
    OK(MsprofRegisterCallback(1, NULL));
    OK(MsprofReportApi(0, code));
    OK(MsprofReportCompactInfo(0, NULL, 0));
    OK(MsprofReportAdditionalInfo(0, NULL, 0));
    before = MsprofSysCycleTime();
    TRUE(MsprofSysCycleTime() >= before && before > 0);
    OK(HcclSetConfig(0, 1));
}

enum { PRECISION_MODE = 0, JIT_COMPILE = 10, DEBUG_OPTION = 16, NONE = 17 };
size_t aclGetCompileoptSize(int option);
aclError aclGetCompileopt(int option, char *value, size_t length);
aclError aclSetCompileopt(int option, const char *value);

/* Options for compiling operators are kept, one value each; one of them has a value from the start. */
BARE_CASE(compile_options_are_kept)
{
    char value[64];
    /* Before aclInit, as torch_npu does. */
    EXPECT(aclGetCompileoptSize(JIT_COMPILE), sizeof("disable"));
    OK(aclGetCompileopt(JIT_COMPILE, value, sizeof("disable")));
    EXPECT(strcmp(value, "disable"), 0);
    start();

    EXPECT(aclGetCompileoptSize(PRECISION_MODE), 0);
    EXPECT(aclGetCompileopt(PRECISION_MODE, value, sizeof(value)), ACL_ERROR_API_NOT_SUPPORT);
    OK(aclSetCompileopt(PRECISION_MODE, "allow_mix_precision"));
    OK(aclSetCompileopt(JIT_COMPILE, "enable"));
    EXPECT(aclGetCompileoptSize(PRECISION_MODE), sizeof("allow_mix_precision"));
    OK(aclGetCompileopt(PRECISION_MODE, value, sizeof(value)));
    EXPECT(strcmp(value, "allow_mix_precision"), 0);
    OK(aclGetCompileopt(JIT_COMPILE, value, sizeof(value)));
    EXPECT(strcmp(value, "enable"), 0);

    value[0] = 'x';
    EXPECT(aclGetCompileopt(JIT_COMPILE, value, sizeof("enable") - 1), ACL_ERROR_INVALID_PARAM);
    EXPECT(value[0], 'x');
    EXPECT(aclGetCompileopt(JIT_COMPILE, NULL, sizeof(value)), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclSetCompileopt(JIT_COMPILE, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclSetCompileopt(JIT_COMPILE, "perhaps"), ACL_ERROR_INVALID_PARAM);
    OK(aclGetCompileopt(JIT_COMPILE, value, sizeof(value)));
    EXPECT(strcmp(value, "enable"), 0);

    OK(aclSetCompileopt(DEBUG_OPTION, "oom"));
    EXPECT(aclSetCompileopt(NONE, "1"), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclSetCompileopt(-1, "1"), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclGetCompileopt(NONE, value, sizeof(value)), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclGetCompileoptSize(NONE), 0);
}

int halGetAPIVersion(int *version);
enum { SYSTEM = 0, COUNT = 13, FREQUENCY = 25 };

/* The driver's counter is the clock of events, and its oscillator says how long a tick is.
   SOFTACL: clock_offset_ns=5000000000/-7,drift_ppm=40 */
BARE_CASE(the_driver_tells_the_devices_clock)
{
    int64_t khz = 0, before = 0, after = 0, other = 0;
    aclrtStream stream;
    aclrtEvent event;
    uint64_t stamp = 0;
    int version = 0;
    EXPECT(halGetAPIVersion(&version), 0);
    TRUE(version >= 0x071905);
    start();
    EXPECT(halGetDeviceInfo(0, SYSTEM, FREQUENCY, &khz), 0);
    EXPECT(khz, 50000);
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_TIME_LINE));
    EXPECT(halGetDeviceInfo(0, SYSTEM, COUNT, &before), 0);
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(halGetDeviceInfo(0, SYSTEM, COUNT, &after), 0);
    OK(aclrtEventGetTimestamp(event, &stamp));
    /* Whole microseconds have 50 ticks. */
    TRUE((int64_t)stamp >= before / 50 && (int64_t)stamp <= after / 50);
    EXPECT(halGetDeviceInfo(1, SYSTEM, COUNT, &other), 0);
    TRUE(after - other > 4900000000ll / 20);
    EXPECT(halGetDeviceInfo(9, SYSTEM, COUNT, &other), 2);
    EXPECT(halGetDeviceInfo(0, SYSTEM, COUNT, NULL), 3);
    EXPECT(halGetDeviceInfo(0, 4, COUNT, &other), 0xfffe);
}
