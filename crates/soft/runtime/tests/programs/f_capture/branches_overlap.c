/* SOFTACL: tick_ns=1,clock_offset_ns=0,drift_ppm=0 */
#include "../capture.h"

/* Two branches of 1 ms each take 1 ms together, and 2 ms after each other. */
static float measure(aclmdlRI model, aclrtStream stream)
{
    aclrtEvent before, after;
    float ms = 0;
    OK(aclrtCreateEventExWithFlag(&before, ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventExWithFlag(&after, ACL_EVENT_TIME_LINE));
    SAY(aclrtRecordEvent(before, stream), 0);
    SAY(aclmdlRIExecuteAsync(model, stream), 0);
    SAY(aclrtRecordEvent(after, stream), 0);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtEventElapsedTime(&ms, before, after));
    return ms;
}

int main(void)
{
    /* 22 GB/s from device to host: 22 MB in 1 ms, and 1.5 us of latency. */
    enum { BYTES = 22000000 };
    void *device, *host;
    start();
    aclrtStream stream = new_stream(), side = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    OK(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&host, BYTES));
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    wait_for(stream, fork, side);
    SAY(aclrtMemcpyAsync(host, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, side), 0);
    SAY(aclrtMemcpyAsync(host, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream), 0);
    wait_for(side, join, stream);
    aclmdlRI parallel = end_well(stream, 6);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtMemcpyAsync(host, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream), 0);
    SAY(aclrtMemcpyAsync(host, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream), 0);
    aclmdlRI serial = end_well(stream, 2);
    /* Between two records there are also the submissions of the host, at most a few ms. */
    float together = measure(parallel, stream), apart = measure(serial, stream);
    TRUE(together >= 1.0015f);
    TRUE(apart >= 2.003f);
    return finish();
}
