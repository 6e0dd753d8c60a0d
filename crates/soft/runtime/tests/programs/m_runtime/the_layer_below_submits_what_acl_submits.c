/* Copies, values, notifies, synchronisations and last tasks of the layer below do what those of acl do. */
#include "../check.h"

typedef int rt;
rt rtSetDevice(int32_t id);
rt rtDeviceReset(int32_t id);
rt rtDeviceSynchronize(void);
rt rtStreamCreateWithFlags(void **stream, int32_t priority, uint32_t flags);
rt rtStreamCreateWithConfig(void **stream, void *config);
rt rtStreamGetFlags(void *stream, uint32_t *flags);
rt rtStreamGetPriority(void *stream, uint32_t *priority);
rt rtStreamDestroyForce(void *stream);
rt rtStreamSynchronizeWithTimeout(void *stream, int32_t timeout);
rt rtGetTaskIdAndStreamID(uint32_t *task, uint32_t *stream);
rt rtGetStreamId(void *stream, int32_t *id);
rt rtMalloc(void **address, uint64_t size, uint32_t kind, uint16_t module);
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
rt rtEventRecord(void *event, void *stream);
rt rtEventQuery(void *event);
rt rtEventDestroySync(void *event);
rt rtStreamActive(void *active, void *stream);

int main(void)
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
    return finish();
}
