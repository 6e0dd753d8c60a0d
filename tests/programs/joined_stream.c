/* A stream that is only used inside a capture: it joins the capture of another one. With a word, prints the numbers of both streams at
 * once, as the runtime has them. */
#include "program.h"

enum { BYTES = 4096 };

int main(int count, char **words)
{
    aclrtStream first, joined;
    aclrtEvent fork, join;
    aclmdlRI graph;
    void *buffer;

    (void)words;
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtCreateStream(&first));
    DO(aclrtCreateStream(&joined));
    if (count > 1) {
        int32_t numbers[2];
        DO(aclrtStreamGetId(first, &numbers[0]));
        DO(aclrtStreamGetId(joined, &numbers[1]));
        printf("%d %d\n", (int)numbers[0], (int)numbers[1]);
        return 0;
    }
    DO(aclrtCreateEventExWithFlag(&fork, ACL_EVENT_SYNC));
    DO(aclrtCreateEventExWithFlag(&join, ACL_EVENT_SYNC));
    DO(aclrtMemsetAsync(buffer, BYTES, 1, BYTES, first));
    DO(aclrtSynchronizeStream(first));
    DO(aclmdlRICaptureBegin(first, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    DO(aclrtMemsetAsync(buffer, BYTES, 2, BYTES, first));
    DO(aclrtRecordEvent(fork, first));
    DO(aclrtStreamWaitEvent(joined, fork));
    DO(aclrtMemsetAsync(buffer, BYTES, 3, BYTES, joined));
    DO(aclrtRecordEvent(join, joined));
    DO(aclrtStreamWaitEvent(first, join));
    DO(aclmdlRICaptureEnd(first, &graph));
    for (int i = 0; i < 3; i++) {
        DO(aclmdlRIExecuteAsync(graph, first));
    }
    DO(aclrtSynchronizeStream(first));
    DO(aclmdlRIDestroy(graph));
    DO(aclrtFree(buffer));
    return 0;
}
