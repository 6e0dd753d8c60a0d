/* Functions of the layer below AscendCL, as far as these tests call them.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef TESTS_BELOW_H
#define TESTS_BELOW_H

#include <stdbool.h>
#include <stdint.h>

typedef int32_t rt;

rt rtSetDevice(int32_t device);
rt rtDeviceReset(int32_t device);
rt rtDeviceResetForce(int32_t device);
rt rtDeviceSynchronize(void);
rt rtGetDevice(int32_t *device);
rt rtGetDeviceCount(int32_t *count);
rt rtCtxCreate(void **context, uint32_t flags, int32_t device);
rt rtCtxDestroy(void *context);
rt rtCtxSetCurrent(void *context);
rt rtCtxGetCurrent(void **context);
rt rtStreamCreate(void **stream, int32_t priority);
rt rtStreamCreateWithFlags(void **stream, int32_t priority, uint32_t flags);
rt rtStreamDestroy(void *stream);
rt rtStreamDestroyForce(void *stream);
rt rtStreamSynchronize(void *stream);
rt rtStreamSynchronizeWithTimeout(void *stream, int32_t timeout);
rt rtStreamQuery(void *stream);
rt rtStreamWaitEvent(void *stream, void *event);
rt rtStreamBeginCapture(void *stream, uint32_t mode);
rt rtStreamEndCapture(void *stream, void **model);
rt rtStreamGetCaptureInfo(void *stream, uint32_t *status, void **model);
rt rtGetStreamId(void *stream, int32_t *id);
rt rtGetTaskIdAndStreamID(uint32_t *task, uint32_t *stream);
rt rtSetStreamOverflowSwitch(void *stream, uint32_t on);
rt rtEventCreate(void **event);
rt rtEventCreateWithFlag(void **event, uint32_t flags);
rt rtEventCreateExWithFlag(void **event, uint32_t flags);
rt rtEventDestroy(void *event);
rt rtEventRecord(void *event, void *stream);
rt rtEventSynchronize(void *event);
rt rtEventQuery(void *event);
rt rtEventQueryStatus(void *event, uint32_t *status);
rt rtEventElapsedTime(float *ms, void *start, void *end);
rt rtEventGetTimeStamp(uint64_t *time, void *event);
rt rtNotifyCreate(int32_t device, void **notify);
rt rtNotifyDestroy(void *notify);
rt rtNotifyRecord(void *notify, void *stream);
rt rtNotifyWaitWithTimeOut(void *notify, void *stream, uint32_t timeout);
rt rtsValueWrite(const void *address, uint64_t value, uint32_t flag, void *stream);
rt rtsValueWait(const void *address, uint64_t value, uint32_t flag, void *stream);
rt rtMalloc(void **address, uint64_t size, uint32_t kind, uint16_t module);
rt rtFree(void *address);
rt rtMemcpy(void *to, uint64_t room, const void *from, uint64_t size, uint32_t kind);
rt rtMemsetAsync(void *address, uint64_t room, uint32_t value, uint64_t size, void *stream);
rt rtMemcpyAsync(void *to, uint64_t room, const void *from, uint64_t size, uint32_t kind, void *stream);
rt rtReduceAsync(void *to, uint64_t room, const void *from, uint64_t size, uint32_t kind, uint32_t type,
                 void *stream);
rt rtKernelLaunch(const void *function, uint32_t blocks, void *args, uint32_t size, void *memory,
                  void *stream);
rt rtKernelLaunchWithHandleV2(void *handle, uint64_t key, uint32_t blocks, void *args, void *memory,
                              void *stream, const void *config);
rt rtStarsTaskLaunch(const void *entry, uint32_t size, void *stream);
rt rtNopTask(void *stream);
rt rtCallbackLaunch(void (*function)(void *), void *data, void *stream, bool blocks);
rt rtSubscribeReport(uint64_t thread, void *stream);
rt rtUnSubscribeReport(uint64_t thread, void *stream);
rt rtProcessReport(int32_t timeout);
rt rtModelExecute(void *model, void *stream, uint32_t flags);
rt rtModelDestroy(void *model);

#endif
