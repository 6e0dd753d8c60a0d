/* Stands for the upper layer of a card's runtime: AscendCL's functions, each made of a call of the layer below, which
 * lies in another library. */
#include "program.h"
#include "below.h"

aclError aclrtSetDevice(int32_t device) { return rtSetDevice(device); }

aclError aclrtResetDevice(int32_t device) { return rtDeviceReset(device); }

aclError aclrtGetDevice(int32_t *device)
{
    return device == NULL ? ACL_ERROR_INVALID_PARAM : rtGetDevice(device);
}

aclError aclrtGetRunMode(aclrtRunMode *mode)
{
    int32_t count;

    *mode = ACL_HOST;
    return rtGetDeviceCount(&count);
}

aclError aclrtGetVersion(int32_t *major, int32_t *minor, int32_t *patch)
{
    *minor = *patch = 0;
    return rtGetDeviceCount(major);
}

aclError aclrtGetCurrentContext(aclrtContext *context) { return rtCtxGetCurrent(context); }

aclError aclrtSetCurrentContext(aclrtContext context) { return rtCtxSetCurrent(context); }

aclError aclrtCreateStream(aclrtStream *stream) { return rtStreamCreateWithFlags(stream, 0, 0); }

aclError aclrtDestroyStream(aclrtStream stream) { return rtStreamDestroy(stream); }

aclError aclrtSynchronizeStream(aclrtStream stream) { return rtStreamSynchronize(stream); }

aclError aclrtStreamGetId(aclrtStream stream, int32_t *id) { return rtGetStreamId(stream, id); }

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event)
{
    return rtStreamWaitEvent(stream, event);
}

aclError aclrtCreateEvent(aclrtEvent *event) { return rtEventCreate(event); }

aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
{
    return rtEventCreateExWithFlag(event, flag);
}

aclError aclrtDestroyEvent(aclrtEvent event) { return rtEventDestroy(event); }

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) { return rtEventRecord(event, stream); }

aclError aclrtSynchronizeEvent(aclrtEvent event) { return rtEventSynchronize(event); }

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status)
{
    return rtEventQueryStatus(event, (uint32_t *)status);
}

aclError aclrtEventElapsedTime(float *ms, aclrtEvent start, aclrtEvent end)
{
    return rtEventElapsedTime(ms, start, end);
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp)
{
    return rtEventGetTimeStamp(timestamp, event);
}

aclError aclrtMalloc(void **address, size_t size, aclrtMemMallocPolicy policy)
{
    return rtMalloc(address, size, (uint32_t)policy, 0);
}

aclError aclrtFree(void *address) { return rtFree(address); }

aclError aclrtMemsetAsync(void *address, size_t room, int32_t value, size_t size, aclrtStream stream)
{
    return rtMemsetAsync(address, room, (uint32_t)value, size, stream);
}

aclError aclrtMemcpyAsync(void *to, size_t room, const void *from, size_t size, aclrtMemcpyKind kind,
                          aclrtStream stream)
{
    return rtMemcpyAsync(to, room, from, size, (uint32_t)kind, stream);
}

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode)
{
    return rtStreamBeginCapture(stream, (uint32_t)mode);
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *model)
{
    return rtStreamEndCapture(stream, model);
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus *status, aclmdlRI *model)
{
    return rtStreamGetCaptureInfo(stream, (uint32_t *)status, model);
}

aclError aclmdlRIExecuteAsync(aclmdlRI model, aclrtStream stream)
{
    return rtModelExecute(model, stream, 0);
}

aclError aclmdlRIDestroy(aclmdlRI model) { return rtModelDestroy(model); }
