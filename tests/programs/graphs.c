/* Graphs of several shapes, replayed in turns: branches that look alike, one node alone, a host function at the end, one
 * on two streams, one at the place of another that is gone. */
#include "program.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_relu.h"

enum { BYTES = 4096, ROUNDS = 5 };

static void *memory;
static aclrtStream streams[3];

static void relu(aclrtStream stream)
{
    const int64_t dims[2] = {8, 8};
    aclTensor *tensors[2];
    aclOpExecutor *executor;
    uint64_t size;

    for (int i = 0; i < 2; i++) {
        tensors[i] = aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, memory);
        require(tensors[i] != NULL, "a tensor");
    }
    DO(aclnnReluGetWorkspaceSize(tensors[0], tensors[1], &size, &executor));
    DO(aclnnRelu(NULL, 0, executor, stream));
    for (int i = 0; i < 2; i++) {
        DO(aclDestroyTensor(tensors[i]));
    }
}

static void relus(aclrtStream stream, int times)
{
    for (int i = 0; i < times; i++) {
        relu(stream);
    }
}

static void copy(aclrtStream stream)
{
    char *to = (char *)memory + BYTES;

    DO(aclrtMemcpyAsync(to, BYTES, memory, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
}

static void nothing(void *unused)
{
    (void)unused;
    usleep(200);
}

static void begin(aclrtStream stream)
{
    DO(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
}

static aclmdlRI end(aclrtStream stream)
{
    aclmdlRI graph;

    DO(aclmdlRICaptureEnd(stream, &graph));
    return graph;
}

/* Two branches beside the first stream, whose nodes are of the same kinds. */
static aclmdlRI branches(void)
{
    aclrtEvent forked, joined[2];

    DO(aclrtCreateEventExWithFlag(&forked, ACL_EVENT_SYNC));
    begin(streams[0]);
    relu(streams[0]);
    DO(aclrtRecordEvent(forked, streams[0]));
    for (int i = 0; i < 2; i++) {
        DO(aclrtStreamWaitEvent(streams[1 + i], forked));
        relus(streams[1 + i], 3);
    }
    relu(streams[0]);
    for (int i = 0; i < 2; i++) {
        DO(aclrtCreateEventExWithFlag(&joined[i], ACL_EVENT_SYNC));
        DO(aclrtRecordEvent(joined[i], streams[1 + i]));
        DO(aclrtStreamWaitEvent(streams[0], joined[i]));
    }
    relu(streams[0]);
    return end(streams[0]);
}

static void replay(aclmdlRI graph, aclrtStream stream, int times)
{
    for (int i = 0; i < times; i++) {
        DO(aclmdlRIExecuteAsync(graph, stream));
    }
}

int main(void)
{
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc(&memory, 2 * BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < 3; i++) {
        DO(aclrtCreateStream(&streams[i]));
    }
    for (int i = 0; i < 4; i++) {
        relus(streams[0], 1);
        relu(streams[0]);
        DO(aclrtSynchronizeStream(streams[0]));
    }
    aclmdlRI wide = branches();
    begin(streams[0]);
    relu(streams[0]);
    aclmdlRI single = end(streams[0]);
    begin(streams[2]);
    relus(streams[2], 2);
    DO(aclrtLaunchHostFunc(streams[2], nothing, NULL));
    aclmdlRI longer = end(streams[2]);
    for (int i = 0; i < ROUNDS; i++) {
        replay(wide, streams[0], 2);
        replay(single, streams[0], 3);
        relu(streams[0]);
        DO(aclrtSynchronizeStream(streams[0]));
    }
    replay(single, streams[1], 2);
    DO(aclrtSynchronizeStream(streams[1]));
    replay(longer, streams[2], 2);
    DO(aclrtSynchronizeStream(streams[2]));
    DO(aclmdlRIDestroy(wide));
    begin(streams[1]);
    copy(streams[1]);
    relus(streams[1], 2);
    aclmdlRI late = end(streams[1]);
    for (int i = 0; i < 3; i++) {
        replay(late, streams[1], 2);
        DO(aclrtSynchronizeDevice());
    }
    /* From here on nobody can say which of its replays is first. */
    replay(single, streams[1], 1);
    replay(single, streams[0], 1);
    DO(aclrtSynchronizeDevice());
    DO(aclmdlRIDestroy(single));
    DO(aclmdlRIDestroy(longer));
    DO(aclmdlRIDestroy(late));
    printf("%d rounds\n", ROUNDS);
    return 0;
}
