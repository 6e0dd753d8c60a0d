/* Captures copies and fills on two streams, and replays the graph eight times. */
#include "program.h"

enum { NODES = 6, REPLAYS = 8, BYTES = 65536 };

int main(void)
{
    aclrtStream first, second;
    aclrtEvent fork_event, join_event;
    aclmdlRI graph;
    void *from, *to;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc(&from, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMalloc(&to, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtCreateStream(&first));
    DO(aclrtCreateStream(&second));
    DO(aclrtCreateEventExWithFlag(&fork_event, ACL_EVENT_SYNC));
    DO(aclrtCreateEventExWithFlag(&join_event, ACL_EVENT_SYNC));
    for (int i = 0; i < 4; i++) {
        DO(aclrtMemsetAsync(to, BYTES, i, BYTES, first));
        DO(aclrtSynchronizeStream(first));
    }
    DO(aclmdlRICaptureBegin(first, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    DO(aclrtRecordEvent(fork_event, first));
    DO(aclrtStreamWaitEvent(second, fork_event));
    for (int i = 0; i < NODES; i++) {
        DO(aclrtMemcpyAsync(to, BYTES, from, (size_t)BYTES >> i, ACL_MEMCPY_DEVICE_TO_DEVICE, first));
        DO(aclrtMemsetAsync(from, BYTES, i, (size_t)BYTES >> i, second));
    }
    DO(aclrtRecordEvent(join_event, second));
    DO(aclrtStreamWaitEvent(first, join_event));
    DO(aclmdlRICaptureEnd(first, &graph));
    for (int i = 0; i < REPLAYS; i++) {
        DO(aclmdlRIExecuteAsync(graph, first));
    }
    DO(aclrtSynchronizeStream(first));
    DO(aclmdlRIDestroy(graph));
    printf("%d nodes\n", 2 * NODES * REPLAYS);
    return 0;
}
