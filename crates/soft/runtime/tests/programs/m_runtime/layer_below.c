#include "../cases.h"
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef int rt;
rt rtInit(void);
rt rtDeinit(void);
rt rtSetDevice(int32_t id);
rt rtDeviceReset(int32_t id);
rt rtStreamCreateWithFlags(void **stream, int32_t priority, uint32_t flags);
rt rtStreamDestroy(void *stream);
rt rtStreamSynchronize(void *stream);
rt rtMalloc(void **address, uint64_t size, uint32_t kind, uint16_t module);
rt rtFree(void *address);
rt rtMemsetAsync(void *address, uint64_t room, uint32_t value, uint64_t size, void *stream);
rt rtModelCreate(void **model, uint32_t flags);
rt rtModelBindStream(void *model, void *stream, uint32_t flags);
rt rtModelUnbindStream(void *model, void *stream);
rt rtEndGraph(void *model, void *stream);
rt rtModelLoadComplete(void *model);
rt rtModelExecute(void *model, void *stream, uint32_t flags);
rt rtModelExecuteSync(void *model, void *stream, uint32_t flags, int32_t timeout);
rt rtModelGetId(void *model, uint32_t *id);
rt rtSetModelName(void *model, const char *name);
rt rtModelDestroy(void *model);

/* Graphs that are built and run on the layer below are those of acl. */
BARE_CASE(the_layer_below_builds_graphs)
{
    void *model, *part, *stream;
    int32_t *word;
    uint32_t id = 99, own = 98;
    char name[16] = "";
    OK(rtInit());
    OK(rtSetDevice(0));
    OK(rtMalloc((void **)&word, 64, 0, 0));
    *word = 0;
    OK(rtModelCreate(&model, 0));
    OK(rtStreamCreateWithFlags(&part, 0, ACL_STREAM_PERSISTENT));
    OK(rtStreamCreateWithFlags(&stream, 0, 0));
    OK(rtModelBindStream(model, part, ACL_MODEL_STREAM_FLAG_HEAD));
    OK(rtMemsetAsync(word, 64, 1, 64, part));
    OK(rtEndGraph(model, part));
    OK(rtModelLoadComplete(model));
    EXPECT(*word, 0);
    OK(rtModelExecute(model, stream, 0));
    OK(rtStreamSynchronize(stream));
    EXPECT(*word, 0x01010101);
    *word = 0;
    OK(rtModelExecuteSync(model, stream, 0, -1));
    EXPECT(*word, 0x01010101);
    OK(rtModelGetId(model, &id));
    OK(aclmdlRIGetId(model, &own));
    EXPECT(id, own);
    OK(rtSetModelName(model, "below"));
    OK(aclmdlRIGetName(model, sizeof(name), name));
    EXPECT(strcmp(name, "below"), 0);
    OK(rtModelUnbindStream(model, part));
    OK(rtModelDestroy(model));
    OK(rtStreamDestroy(part));
    OK(rtStreamDestroy(stream));
    OK(rtFree(word));
    OK(rtDeviceReset(0));
    OK(rtDeinit());
}

rt rtGetDevice(int32_t *id);
rt rtCtxCreate(void **context, uint32_t flags, int32_t device);
rt rtCtxDestroy(void *context);
rt rtCtxSetCurrent(void *context);
rt rtCtxGetCurrent(void **context);
rt rtStreamCreate(void **stream, int32_t priority);
rt rtStreamQuery(void *stream);
rt rtStreamWaitEvent(void *stream, void *event);
rt rtStreamBeginCapture(void *stream, uint32_t mode);
rt rtStreamEndCapture(void *stream, void **model);
rt rtEventCreateExWithFlag(void **event, uint32_t flags);
rt rtEventRecord(void *event, void *stream);
rt rtEventDestroy(void *event);
rt rtMemsetAsync(void *address, uint64_t room, uint32_t value, uint64_t len, void *stream);
rt rtMemcpyAsync(void *to, uint64_t room, const void *from, uint64_t len, uint32_t kind, void *stream);
rt rtReduceAsync(void *to, uint64_t room, const void *from, uint64_t len, uint32_t kind, uint32_t type, void *stream);
rt rtKernelLaunch(const void *function, uint32_t blocks, void *args, uint32_t size, void *sm, void *stream);

/* Contexts, streams, events and captures of the layer below are the same objects as those of acl. */
BARE_CASE(the_layer_below_makes_what_acl_uses)
{
    void *context, *own, *now, *stream, *side, *event, *model = NULL;
    int32_t *from, *to, device = -1;
    struct gate gate = {0, 0};
    aclrtContext seen;
    OK(rtSetDevice(0));
    OK(rtCtxGetCurrent(&own));
    OK(aclrtGetCurrentContext(&seen));
    TRUE(seen == own);
    OK(rtCtxCreate(&context, 0, 1));
    OK(rtCtxGetCurrent(&now));
    TRUE(now == context);
    OK(aclrtGetDevice(&device));
    EXPECT(device, 1);
    OK(rtCtxSetCurrent(own));
    OK(rtGetDevice(&device));
    EXPECT(device, 0);
    OK(rtCtxDestroy(context));
    EXPECT(rtCtxSetCurrent(context), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(rtCtxSetCurrent(NULL), ACL_ERROR_RT_PARAM_INVALID);

    OK(rtStreamCreate(&stream, 0));
    OK(aclrtCreateStream(&side));
    OK(rtMalloc((void **)&from, 64, 0, 0));
    OK(rtMalloc((void **)&to, 64, 0, 0));
    OK(rtEventCreateExWithFlag(&event, ACL_EVENT_SYNC));
    OK(rtMemsetAsync(from, 64, 1, 64, stream));
    OK(rtEventRecord(event, stream));
    OK(rtStreamWaitEvent(side, event));
    OK(rtMemcpyAsync(to, 64, from, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, side));
    OK(rtReduceAsync(to, 64, from, 64, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, side));
    OK(rtKernelLaunch(main, 1, from, 64, NULL, side));
    OK(rtStreamSynchronize(side));
    EXPECT(to[3], 0x02020202);
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    EXPECT(rtStreamQuery(stream), ACL_ERROR_RT_STREAM_NOT_COMPLETE);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(stream));
    OK(rtStreamQuery(stream));

    OK(rtStreamBeginCapture(stream, 0));
    aclmdlRICaptureStatus status;
    OK(aclmdlRICaptureGetInfo(stream, &status, NULL));
    EXPECT(status, ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    OK(rtMemsetAsync(from, 64, 3, 64, stream));
    OK(rtStreamEndCapture(stream, &model));
    EXPECT(from[0], 0x01010101);
    OK(rtModelExecute(model, stream, 0));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(from[0], 0x03030303);
    OK(aclmdlRIDestroy(model));

    OK(rtEventDestroy(event));
    OK(rtFree(from));
    OK(rtStreamDestroy(stream));
    EXPECT(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
    OK(rtDeviceReset(0));
    EXPECT(rtDeviceReset(0), 507007);
    EXPECT(aclrtGetCurrentContext(&seen), ACL_ERROR_RT_CONTEXT_NULL);
}

rt rtDeviceSynchronize(void);
rt rtStreamCreateWithConfig(void **stream, void *config);
rt rtStreamGetFlags(void *stream, uint32_t *flags);
rt rtStreamGetPriority(void *stream, uint32_t *priority);
rt rtStreamDestroyForce(void *stream);
rt rtStreamSynchronizeWithTimeout(void *stream, int32_t timeout);
rt rtGetTaskIdAndStreamID(uint32_t *task, uint32_t *stream);
rt rtGetStreamId(void *stream, int32_t *id);
rt rtFreeWithDevSync(void *address);
rt rtMemcpy(void *to, uint64_t room, const void *from, uint64_t size, uint32_t kind);
rt rtMemcpyEx(void *to, uint64_t room, const void *from, uint64_t size, uint32_t kind);

rt rtMemcpy2d(void *to, uint64_t to_pitch, const void *from, uint64_t from_pitch, uint64_t width, uint64_t rows,
              uint32_t kind);

rt rtMemcpy2dAsync(void *to, uint64_t to_pitch, const void *from, uint64_t from_pitch, uint64_t width, uint64_t rows,
                   uint32_t kind, void *stream);

rt rtMemcpyD2DAddrAsync(void *to, uint64_t room, uint64_t to_offset, const void *from, uint64_t size,
                        uint64_t from_offset, void *stream);

rt rtMemcpyHostTask(void *to, uint64_t room, const void *from, uint64_t size, uint32_t kind, void *stream);

rt rtsMemcpyBatch(void **to, void **from, size_t *sizes, size_t count, void *attrs, size_t *indexes, size_t attr_count,
                  size_t *failed_at);

rt rtsMemcpyBatchAsync(void **to, size_t *rooms, void **from, size_t *sizes, size_t count, void *attrs, size_t *indexes,
                       size_t attr_count, size_t *failed_at, void *stream);

rt rtsValueWrite(const void *address, uint64_t value, uint32_t flag, void *stream);
rt rtsValueWait(const void *address, uint64_t value, uint32_t flag, void *stream);
rt rtWriteValue(void *info, void *stream);
rt rtNopTask(void *stream);
rt rtNpuGetFloatStatus(void *output, uint64_t size, uint32_t mode, void *stream);
rt rtLaunchKernelByFuncHandle(void *function, uint32_t blocks, void *args, void *stream);
rt rtEventCreate(void **event);
rt rtEventQuery(void *event);
rt rtEventDestroySync(void *event);
rt rtStreamActive(void *active, void *stream);

/* Copies, values, notifies, synchronisations and last tasks of the layer below do what those of acl do. */
BARE_CASE(the_layer_below_submits_what_acl_submits)
{
    enum { DEVICE_TO_DEVICE = 3, WORDS = 16 };
    struct { uint64_t address; uint32_t width; void *value; } write;
    struct gate gate = {0, 0};
    uint64_t *from, *to, *addresses, number = 77;
    void *stream, *side, *event, *handle;
    uint32_t task = 9, on = 9, flags = 9, priority = 9;
    int32_t id;
    size_t failed = 9;
    OK(rtGetTaskIdAndStreamID(&task, &on));
    EXPECT(task, 0);
    EXPECT(on, 0);
    OK(rtSetDevice(0));
    OK(rtStreamCreateWithFlags(&stream, 2, 0));
    OK(rtStreamGetPriority(stream, &priority));
    EXPECT(priority, 2);
    handle = aclrtCreateStreamConfigHandle();
    size_t wanted = ACL_STREAM_FAST_LAUNCH;
    OK(aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_FLAG, &wanted, sizeof(wanted)));
    OK(rtStreamCreateWithConfig(&side, handle));
    OK(rtStreamGetFlags(side, &flags));
    EXPECT(flags, ACL_STREAM_FAST_LAUNCH);
    OK(aclrtDestroyStreamConfigHandle(handle));
    OK(rtMalloc((void **)&from, WORDS * 8, 0, 0));
    OK(rtMalloc((void **)&to, WORDS * 8, 0, 0));
    OK(rtMalloc((void **)&addresses, 64, 0, 0));

    for (int word = 0; word < WORDS; word++) {
        from[word] = 100 + word;
        to[word] = 0;
    }
    OK(rtMemcpy(to, 64, from, 8, DEVICE_TO_DEVICE));
    EXPECT(to[0], 100);
    OK(rtMemcpyEx(to + 1, 64, from + 1, 8, DEVICE_TO_DEVICE));
    EXPECT(to[1], 101);
    EXPECT(rtMemcpy(to, 4, from, 8, DEVICE_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
    OK(rtMemcpy2d(to + 2, 16, from + 2, 16, 8, 2, DEVICE_TO_DEVICE));
    EXPECT(to[2], 102);
    EXPECT(to[3], 0);
    EXPECT(to[4], 104);
    OK(rtMemcpy2dAsync(to + 5, 16, from + 5, 16, 8, 2, DEVICE_TO_DEVICE, stream));
    addresses[0] = (uint64_t)to;
    addresses[1] = (uint64_t)from;
    OK(rtMemcpyD2DAddrAsync(&addresses[0], 128, 64, &addresses[1], 8, 72, stream));
    OK(rtMemcpyHostTask(to + 9, 8, from + 10, 8, DEVICE_TO_DEVICE, stream));
    OK(rtStreamSynchronizeWithTimeout(stream, 10000));
    EXPECT(to[5], 105);
    EXPECT(to[7], 107);
    EXPECT(to[8], 109);
    EXPECT(to[9], 110);

    void *targets[2], *sources[2];
    size_t sizes[2] = {8, 8};
    OK(aclrtMallocHost(&targets[0], 64));
    OK(aclrtMallocHost(&targets[1], 64));
    sources[0] = from + 11;
    sources[1] = from + 12;
    OK(rtsMemcpyBatch(targets, sources, sizes, 2, NULL, NULL, 0, &failed));
    EXPECT(*(uint64_t *)targets[1], 112);
    sources[1] = from + 13;
    OK(rtsMemcpyBatchAsync(targets, sizes, sources, sizes, 2, NULL, NULL, 0, &failed, stream));
    OK(rtDeviceSynchronize());
    EXPECT(*(uint64_t *)targets[1], 113);

    OK(rtsValueWait(&to[14], 5, 1, side));
    OK(rtNopTask(side));
    OK(rtGetTaskIdAndStreamID(&task, &on));
    OK(rtGetStreamId(side, &id));
    EXPECT(task, 1);
    EXPECT(on, (uint32_t)id);
    EXPECT(rtStreamSynchronizeWithTimeout(side, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    OK(rtsValueWrite(&to[14], 5, 0, stream));
    OK(rtStreamSynchronizeWithTimeout(side, -1));
    write.address = (uint64_t)&to[15];
    write.width = 4;
    write.value = &number;
    OK(rtWriteValue(&write, stream));
    OK(rtStreamSynchronizeWithTimeout(stream, -1));
    EXPECT(to[15], 77);
    OK(rtNpuGetFloatStatus(to, 64, 0, stream));
    OK(rtLaunchKernelByFuncHandle(NULL, 1, NULL, stream));

    OK(rtEventCreate(&event));
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    OK(rtEventRecord(event, stream));
    EXPECT(rtEventQuery(event), ACL_ERROR_RT_EVENT_NOT_COMPLETE);
    open_gate(&gate);
    OK(rtEventDestroySync(event));
    EXPECT(to[0], 0);
    EXPECT(rtStreamActive(stream, side), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);

    OK(aclrtFreeHost(targets[0]));
    OK(aclrtFreeHost(targets[1]));
    OK(rtFreeWithDevSync(from));
    OK(rtFreeWithDevSync(to));
    OK(rtStreamDestroyForce(stream));
    OK(rtStreamDestroyForce(side));
    OK(rtDeviceReset(0));
}

rt rtGetSocVersion(char *name, uint32_t room);
rt rtGetAiCoreCount(uint32_t *count);
rt rtGetC2cCtrlAddr(uint64_t *address, uint32_t *length);
rt rtDeviceSetLimit(int32_t id, uint32_t limit, uint32_t value);
rt rtDeviceGetBareTgid(uint32_t *pid);
rt rtCtxGetOverflowAddr(void **address);
rt rtGetLogicDevIdByUserDevId(int32_t user, int32_t *logic);
enum { LOW_POWER_TIMEOUT, SIMT_STACK, SIMT_DVG_STACK, SIMD_STACK, SIMD_PRINTF, SIMT_PRINTF, NO_LIMIT };

static void names(void)
{
    char name[64] = "";
    OK(rtGetSocVersion(name, sizeof name));
    EXPECT(strcmp(name, aclrtGetSocName()), 0);
    OK(rtGetSocVersion(name, strlen(name) + 1));
    EXPECT(rtGetSocVersion(name, strlen(name)), 507000);
    EXPECT(rtGetSocVersion(name, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(rtGetSocVersion(NULL, 64), ACL_ERROR_RT_PARAM_INVALID);
}

static void cores(void)
{
    uint32_t count = 0, length = 0;
    uint64_t address = 0;
    int64_t known = 0;
    void *same = NULL;
    OK(rtGetAiCoreCount(&count));
    OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_CUBE_CORE_NUM, &known));
    EXPECT(count, known);
    EXPECT(rtGetAiCoreCount(NULL), ACL_ERROR_RT_PARAM_INVALID);

    OK(rtGetC2cCtrlAddr(&address, &length));
    OK(aclrtGetHardwareSyncAddr(&same));
    TRUE(address == (uint64_t)same);
    OK(aclrtMemset(same, length, 7, length));
    EXPECT(rtGetC2cCtrlAddr(NULL, &length), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(rtGetC2cCtrlAddr(&address, NULL), ACL_ERROR_RT_PARAM_INVALID);
}

static void limits(void)
{
    size_t value = 0;
    OK(rtDeviceSetLimit(0, SIMD_STACK, 65536));
    OK(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, &value));
    EXPECT(value, 65536);
    OK(rtDeviceSetLimit(0, LOW_POWER_TIMEOUT, 9));
    OK(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE, &value));
    TRUE(value != 9);
    OK(rtDeviceSetLimit(0, SIMT_PRINTF, 1 << 20));
    OK(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE, &value));
    EXPECT(value, 1 << 20);
    EXPECT(rtDeviceSetLimit(0, NO_LIMIT, 1), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(rtDeviceSetLimit(9, SIMD_STACK, 1), ACL_ERROR_RT_INVALID_DEVICEID);
}

/* Facts and limits of devices by the layer below are those of acl. */
BARE_CASE(the_layer_below_reports_facts_about_devices)
{
    uint32_t pid = 0;
    int32_t logic = -1;
    void *overflow, *same;
    EXPECT(rtGetC2cCtrlAddr((uint64_t[1]){0}, &pid), ACL_ERROR_RT_CONTEXT_NULL);
    names();
    start();
    names();
    cores();
    limits();
    OK(rtDeviceGetBareTgid(&pid));
    EXPECT(pid, getpid());
    OK(rtGetLogicDevIdByUserDevId(0, &logic));
    EXPECT(logic, 0);
    OK(rtCtxGetOverflowAddr(&overflow));
    OK(aclrtCtxGetFloatOverflowAddr(&same));
    TRUE(overflow == same);
}
