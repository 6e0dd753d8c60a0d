/* Contexts, streams, events and captures of the layer below are the same objects as those of acl. */
#include "../check.h"

typedef int rt;
rt rtSetDevice(int32_t id);
rt rtDeviceReset(int32_t id);
rt rtGetDevice(int32_t *id);
rt rtCtxCreate(void **context, uint32_t flags, int32_t device);
rt rtCtxDestroy(void *context);
rt rtCtxSetCurrent(void *context);
rt rtCtxGetCurrent(void **context);
rt rtStreamCreate(void **stream, int32_t priority);
rt rtStreamDestroy(void *stream);
rt rtStreamSynchronize(void *stream);
rt rtStreamQuery(void *stream);
rt rtStreamWaitEvent(void *stream, void *event);
rt rtStreamBeginCapture(void *stream, uint32_t mode);
rt rtStreamEndCapture(void *stream, void **model);
rt rtEventCreateExWithFlag(void **event, uint32_t flags);
rt rtEventRecord(void *event, void *stream);
rt rtEventDestroy(void *event);
rt rtMalloc(void **address, uint64_t size, uint32_t kind, uint16_t module);
rt rtFree(void *address);
rt rtMemsetAsync(void *address, uint64_t room, uint32_t value, uint64_t len, void *stream);
rt rtMemcpyAsync(void *to, uint64_t room, const void *from, uint64_t len, uint32_t kind, void *stream);
rt rtReduceAsync(void *to, uint64_t room, const void *from, uint64_t len, uint32_t kind, uint32_t type, void *stream);
rt rtKernelLaunch(const void *function, uint32_t blocks, void *args, uint32_t size, void *sm, void *stream);
rt rtModelExecute(void *model, void *stream, uint32_t flags);

int main(void)
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
    return finish();
}
