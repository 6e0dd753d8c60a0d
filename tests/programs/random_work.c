/* Random programs one after another: work of several kinds on some streams, synchronisations, graphs that are captured and
 * replayed, further streams. Words: how many programs, and a seed. */
#include "program.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_relu.h"

enum { BYTES = 1 << 14, STREAMS = 4, GRAPHS = 3 };

struct program {
    uint64_t random;
    void *memory;
    aclrtStream streams[STREAMS];
    aclrtEvent events[STREAMS];
    int is_recorded[STREAMS];
    aclmdlRI graphs[GRAPHS];
    long calls;
};

static uint64_t below(struct program *it, uint64_t limit)
{
    it->random ^= it->random << 13;
    it->random ^= it->random >> 7;
    it->random ^= it->random << 17;
    return (it->random >> 11) % limit;
}

static void relu(struct program *it, aclrtStream stream)
{
    const int64_t dims[2] = {8, 1 + (int64_t)below(it, 64)};
    aclTensor *tensors[2];
    aclOpExecutor *executor;
    uint64_t size;

    for (int i = 0; i < 2; i++) {
        tensors[i] = aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2,
                                     it->memory);
    }
    DO(aclnnReluGetWorkspaceSize(tensors[0], tensors[1], &size, &executor));
    DO(aclnnRelu(NULL, 0, executor, stream));
    for (int i = 0; i < 2; i++) {
        DO(aclDestroyTensor(tensors[i]));
    }
}

static void work(struct program *it, aclrtStream stream)
{
    char *to = (char *)it->memory + BYTES;
    size_t bytes = 64 + (size_t)below(it, BYTES - 64);

    switch (below(it, 6)) {
    case 0: DO(aclrtMemcpyAsync(to, BYTES, it->memory, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream)); break;
    case 1: DO(aclrtMemsetAsync(it->memory, BYTES, 1, bytes, stream)); break;
    default: relu(it, stream); break;
    }
    it->calls++;
}

/* One or two streams; the second one leaves and comes back. */
static aclmdlRI captured(struct program *it, int first)
{
    aclrtStream own = it->streams[first], other = it->streams[(first + 1) % STREAMS];
    int is_wide = below(it, 2) == 0;
    aclrtEvent events[2];
    aclmdlRI graph;

    for (int i = 0; i < 2; i++) {
        DO(aclrtCreateEventExWithFlag(&events[i], ACL_EVENT_SYNC));
    }
    DO(aclmdlRICaptureBegin(own, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    for (uint64_t i = below(it, 3); i > 0; i--) {
        work(it, own);
    }
    if (is_wide) {
        DO(aclrtRecordEvent(events[0], own));
        DO(aclrtStreamWaitEvent(other, events[0]));
    }
    for (uint64_t i = 1 + below(it, 4); i > 0; i--) {
        work(it, is_wide && below(it, 2) ? other : own);
    }
    if (is_wide) {
        DO(aclrtRecordEvent(events[1], other));
        DO(aclrtStreamWaitEvent(own, events[1]));
    }
    DO(aclmdlRICaptureEnd(own, &graph));
    return graph;
}

static void further_stream(struct program *it)
{
    aclrtStream stream;

    DO(aclrtCreateStream(&stream));
    for (uint64_t i = below(it, 5); i > 0; i--) {
        work(it, stream);
    }
    DO(aclrtSynchronizeStream(stream));
    /* It stays: the log of what really ran names streams by their numbers. */
}

static void step(struct program *it)
{
    uint64_t at = below(it, STREAMS), other = below(it, STREAMS), graph = below(it, GRAPHS);
    aclrtStream stream = it->streams[at];

    switch (below(it, 16)) {
    case 0: case 1: DO(aclrtSynchronizeStream(stream)); break;
    case 2: DO(aclrtSynchronizeDevice()); break;
    case 3:
        DO(aclrtRecordEvent(it->events[at], stream));
        it->is_recorded[at] = 1;
        break;
    case 4:
        if (other != at && it->is_recorded[other]) {
            DO(aclrtStreamWaitEvent(stream, it->events[other]));
        }
        break;
    case 5:
        DO(aclrtSynchronizeDevice());
        if (it->graphs[graph] != NULL) {
            DO(aclmdlRIDestroy(it->graphs[graph]));
        }
        it->graphs[graph] = captured(it, (int)at);
        break;
    case 6: case 7: case 8:
        if (it->graphs[graph] != NULL) {
            aclrtStream own = it->streams[graph];
            DO(aclmdlRIExecuteAsync(it->graphs[graph], below(it, 12) ? own : stream));
        }
        break;
    case 9: usleep((useconds_t)below(it, 300)); break;
    default: work(it, stream); break;
    }
}

static void run(struct program *it)
{
    for (int i = 0; i < STREAMS; i++) {
        DO(aclrtCreateEventExWithFlag(&it->events[i], ACL_EVENT_SYNC));
        it->is_recorded[i] = 0;
    }
    memset(it->graphs, 0, sizeof it->graphs);
    for (uint64_t i = 20 + below(it, 60); i > 0; i--) {
        step(it);
    }
    DO(aclrtSynchronizeDevice());
    if (below(it, 4) == 0) {
        further_stream(it);
    }
    for (int i = 0; i < GRAPHS; i++) {
        if (it->graphs[i] != NULL) {
            DO(aclmdlRIDestroy(it->graphs[i]));
        }
    }
    for (int i = 0; i < STREAMS; i++) {
        DO(aclrtDestroyEvent(it->events[i]));
    }
}

int main(int argc, char **argv)
{
    struct program it = {.random = 0};
    long programs = argc > 1 ? strtol(argv[1], NULL, 10) : 1;

    it.random = 0x9e3779b97f4a7c15u ^ (argc > 2 ? strtoull(argv[2], NULL, 10) : 0);
    for (int i = 0; i < 20; i++) {
        (void)below(&it, 2);
    }
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc(&it.memory, 2 * BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < STREAMS; i++) {
        DO(aclrtCreateStream(&it.streams[i]));
    }
    for (long i = 0; i < programs; i++) {
        run(&it);
    }
    printf("%ld programs, %ld pieces of work\n", programs, it.calls);
    return 0;
}
