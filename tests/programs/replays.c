/* Captures kernels on two streams, the second of which joins by one event and leaves by another, and replays the graph
 * eight times. */
#include "kernels.h"

enum { NODES = 6, REPLAYS = 8, BYTES = 65536 };

int main(void)
{
    aclrtStream first, second;
    aclrtEvent fork_event, join_event;
    aclmdlRI graph;
    void *memory;
    aclOpExecutor *kernels[NODES];

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < NODES; i++) {
        kernels[i] = kernel_of(memory, 4 << i);
    }
    DO(aclrtCreateStream(&first));
    DO(aclrtCreateStream(&second));
    DO(aclrtCreateEventExWithFlag(&fork_event, ACL_EVENT_SYNC));
    DO(aclrtCreateEventExWithFlag(&join_event, ACL_EVENT_SYNC));
    for (int i = 0; i < 4; i++) {
        launch(kernels[i], first);
        DO(aclrtSynchronizeStream(first));
    }
    DO(aclmdlRICaptureBegin(first, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    DO(aclrtRecordEvent(fork_event, first));
    DO(aclrtStreamWaitEvent(second, fork_event));
    for (int i = 0; i < NODES; i++) {
        launch(kernels[i], first);
        launch(kernels[NODES - 1 - i], second);
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
