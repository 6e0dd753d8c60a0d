/* Both layers in one program: captures that begin below and above, calls of either on streams of the other, and a
 * wait of one layer for a record of the other. */
#include "program.h"
#include "below.h"

enum { BYTES = 4096, ROUNDS = 6 };

static void *memory;

static uint32_t state_of(aclrtStream stream)
{
    uint32_t state = 9;

    DO(rtStreamGetCaptureInfo(stream, &state, NULL));
    return state;
}

/* How many tasks a graph has in all of its streams. */
static uint32_t tasks_of(aclmdlRI model)
{
    aclrtStream streams[8];
    uint32_t count = 8, all = 0;

    DO(aclmdlRIGetStreams(model, streams, &count));
    for (uint32_t i = 0; i < count; i++) {
        aclmdlRITask tasks[32];
        uint32_t own = 32;

        DO(aclmdlRIGetTasksByStream(streams[i], tasks, &own));
        all += own;
    }
    return all;
}

static void captured_below(aclrtStream stream, aclrtStream side)
{
    aclrtEvent fork, join;
    void *model = NULL;

    DO(aclrtCreateEventExWithFlag(&fork, ACL_EVENT_SYNC));
    DO(rtEventCreateExWithFlag(&join, ACL_EVENT_SYNC));
    DO(rtStreamBeginCapture(stream, 0));
    DO(aclrtMemsetAsync(memory, BYTES, 1, BYTES, stream));
    DO(rtEventRecord(fork, stream));
    DO(aclrtStreamWaitEvent(side, fork));
    DO(rtMemsetAsync(memory, BYTES, 2, BYTES, side));
    DO(rtKernelLaunch(&memory, 1, memory, 8, NULL, side));
    DO(aclrtRecordEvent(join, side));
    DO(rtStreamWaitEvent(stream, join));
    printf("in capture: %u %u\n", state_of(stream), state_of(side));
    DO(rtStreamEndCapture(stream, &model));
    printf("then: %u %u, %u tasks\n", state_of(stream), state_of(side), tasks_of(model));
    for (int round = 0; round < ROUNDS; round++) {
        DO(rtModelExecute(model, stream, 0));
        DO(rtMemsetAsync(memory, BYTES, 3, BYTES, side));
    }
    DO(rtStreamSynchronize(stream));
    DO(aclrtSynchronizeStream(side));
    DO(rtModelDestroy(model));
    DO(aclrtDestroyEvent(fork));
    DO(rtEventDestroy(join));
}

static void captured_above(aclrtStream stream)
{
    aclmdlRI model = NULL;

    DO(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    DO(rtMemsetAsync(memory, BYTES, 4, BYTES, stream));
    DO(rtKernelLaunch(&memory, 1, memory, 8, NULL, stream));
    DO(aclmdlRICaptureEnd(stream, &model));
    printf("%u tasks\n", tasks_of(model));
    DO(aclmdlRIExecuteAsync(model, stream));
    DO(aclrtSynchronizeStream(stream));
    DO(aclmdlRIDestroy(model));
}

int main(void)
{
    aclrtStream stream, side;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtCreateStream(&stream));
    DO(rtStreamCreate(&side, 0));
    captured_below(stream, side);
    captured_above(stream);
    DO(rtStreamDestroy(stream));
    DO(aclrtDestroyStream(side));
    DO(aclrtFree(memory));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
