/* Eight replays of a graph with two lanes between copies, for the truth log. Prints the streams' ids. */
#include "../capture.h"

int main(void)
{
    enum { BYTES = 44000 };
    void *device, *host;
    int id = 0;
    start();
    aclrtStream stream = new_stream(), side = new_stream(), runs = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    OK(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&host, BYTES));
    OK(aclmdlRICaptureBegin(stream, GLOBAL));
    OK(aclrtMemcpyAsync(device, 24000, host, 24000, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtRecordEvent(fork, stream));
    OK(aclrtStreamWaitEvent(side, fork));
    OK(aclrtMemcpyAsync(host, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, side));
    OK(aclrtRecordEvent(join, side));
    OK(aclrtMemsetAsync(device, 40000, 0, 40000, stream));
    OK(aclrtStreamWaitEvent(stream, join));
    OK(aclrtMemsetAsync(device, 40000, 0, 40000, stream));
    aclmdlRI model = end_well(stream, 8);
    for (int i = 0; i < 8; i++) {
        OK(aclrtMemsetAsync(device, 40000, 0, 40000, runs));
        OK(aclmdlRIExecuteAsync(model, runs));
    }
    OK(aclrtSynchronizeStream(runs));
    OK(aclrtStreamGetId(runs, &id));
    printf("runs %d\n", id);
    return finish();
}
