/* A library that does all of its work below AscendCL, as collective and graph libraries do. Answers how many calls
 * it has made. */
#include "program.h"
#include "below.h"

int below_run(int rounds);

static int made;

#define BELOW(call) do { made++; DO(call); } while (0)

int below_run(int rounds)
{
    enum { BYTES = 65536, SUM = 10, INT32 = 3, DEVICE_TO_DEVICE = 3, SYNC = 1, TIMED = 8 };
    void *context, *streams[2], *from, *to, *event, *moment, *notify;
    static const char kernel;
    uint32_t status, task, on;
    int32_t id;

    BELOW(rtSetDevice(0));
    BELOW(rtCtxCreate(&context, 0, 0));
    BELOW(rtStreamCreate(&streams[0], 0));
    BELOW(rtStreamCreateWithFlags(&streams[1], 0, 0));
    BELOW(rtMalloc(&from, BYTES, 2, 0));
    BELOW(rtMalloc(&to, BYTES, 2, 0));
    BELOW(rtEventCreateExWithFlag(&event, SYNC));
    BELOW(rtEventCreateWithFlag(&moment, SYNC | TIMED));
    BELOW(rtNotifyCreate(0, &notify));
    for (int round = 0; round < rounds; round++) {
        BELOW(rtMemsetAsync(from, BYTES, (uint32_t)round, BYTES, streams[0]));
        BELOW(rtKernelLaunch(&kernel, 8, from, 8, NULL, streams[0]));
        BELOW(rtGetTaskIdAndStreamID(&task, &on));
        BELOW(rtGetStreamId(streams[0], &id));
        require(on == (uint32_t)id, "the last task is on its stream");
        BELOW(rtMemcpyAsync(to, BYTES, from, BYTES, DEVICE_TO_DEVICE, streams[0]));
        BELOW(rtReduceAsync(to, BYTES, from, BYTES, SUM, INT32, streams[0]));
        BELOW(rtEventRecord(event, streams[0]));
        BELOW(rtStreamWaitEvent(streams[1], event));
        BELOW(rtKernelLaunchWithHandleV2(to, 1, 8, NULL, NULL, streams[1], NULL));
        BELOW(rtStarsTaskLaunch(to, 64, streams[1]));
        BELOW(rtNopTask(streams[1]));
        BELOW(rtNotifyRecord(notify, streams[1]));
        BELOW(rtNotifyWaitWithTimeOut(notify, streams[0], 0));
        BELOW(rtsValueWrite(to, 7, 0, streams[0]));
        BELOW(rtEventRecord(moment, streams[1]));
        BELOW(rtStreamSynchronize(streams[0]));
        BELOW(rtStreamSynchronizeWithTimeout(streams[1], -1));
        BELOW(rtEventQueryStatus(moment, &status));
        require(status == 1, "the event is done");
        BELOW(rtEventQuery(moment));
    }
    BELOW(rtDeviceSynchronize());
    BELOW(rtNotifyDestroy(notify));
    BELOW(rtEventDestroy(event));
    BELOW(rtEventDestroy(moment));
    BELOW(rtFree(from));
    BELOW(rtFree(to));
    BELOW(rtStreamDestroy(streams[0]));
    BELOW(rtStreamDestroyForce(streams[1]));
    BELOW(rtCtxDestroy(context));
    BELOW(rtDeviceReset(0));
    return made;
}
