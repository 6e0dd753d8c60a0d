/* Operators and copies on two streams, with and without what puts them in order: one case by its name.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "program.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_relu.h"

enum { ROWS = 64, COLUMNS = 128, BYTES = ROWS * COLUMNS * 4, STREAMS = 2, MEMORY = 4, TENSORS = 8 };

static aclrtStream streams[STREAMS];
static aclrtEvent event;
static char *device_memory[MEMORY];
static char *host_memory;
static aclTensor *tensors[TENSORS];
static int tensor_count;

/* ---- Shorthands ---- */

static aclTensor *view(void *memory, const int64_t *dims, const int64_t *strides, int64_t offset)
{
    const int64_t all[1] = {ROWS * COLUMNS};
    aclTensor *made = aclCreateTensor(dims, 2, ACL_FLOAT, strides, offset, ACL_FORMAT_ND, all, 1, memory);
    require(made != NULL && tensor_count < TENSORS, "a tensor");
    tensors[tensor_count++] = made;
    return made;
}

static aclTensor *whole(void *memory)
{
    const int64_t dims[2] = {ROWS, COLUMNS};
    return view(memory, dims, NULL, 0);
}

/* The left half or the right half of each row. */
static aclTensor *half(void *memory, int right)
{
    const int64_t dims[2] = {ROWS, COLUMNS / 2}, strides[2] = {COLUMNS, 1};
    return view(memory, dims, strides, right ? COLUMNS / 2 : 0);
}

static aclTensor *rows(void *memory, int first, int count)
{
    const int64_t dims[2] = {count, COLUMNS}, strides[2] = {COLUMNS, 1};
    return view(memory, dims, strides, first * COLUMNS);
}

static aclTensor *transposed(void *memory)
{
    const int64_t dims[2] = {COLUMNS, ROWS}, strides[2] = {1, COLUMNS};
    return view(memory, dims, strides, 0);
}

static void relu(aclTensor *from, aclTensor *to, int stream)
{
    uint64_t size;
    aclOpExecutor *executor;
    DO(aclnnReluGetWorkspaceSize(from, to, &size, &executor));
    require(size == 0, "no workspace");
    DO(aclnnRelu(NULL, 0, executor, streams[stream]));
}

static void double_in_place(aclTensor *tensor, int stream)
{
    uint64_t size;
    aclOpExecutor *executor;
    float one = 1;
    aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
    DO(aclnnInplaceAddGetWorkspaceSize(tensor, tensor, alpha, &size, &executor));
    DO(aclnnInplaceAdd(NULL, 0, executor, streams[stream]));
    DO(aclDestroyScalar(alpha));
}

static void copy_in(char *to, int stream)
{
    DO(aclrtMemcpyAsync(to, BYTES, host_memory, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, streams[stream]));
}

static void copy_out(const char *from, int stream)
{
    DO(aclrtMemcpyAsync(host_memory, BYTES, from, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, streams[stream]));
}

static void order(int first, int second)
{
    DO(aclrtRecordEvent(event, streams[first]));
    DO(aclrtStreamWaitEvent(streams[second], event));
}

/* ---- Mistakes ---- */

static void input_not_waited_for(void)
{
    copy_in(device_memory[0], 0);
    relu(whole(device_memory[0]), whole(device_memory[1]), 1);
}

static void output_not_waited_for(void)
{
    relu(whole(device_memory[0]), whole(device_memory[1]), 0);
    copy_out(device_memory[1], 1);
}

static void one_operator_after_another(void)
{
    relu(whole(device_memory[0]), whole(device_memory[1]), 0);
    relu(whole(device_memory[1]), whole(device_memory[2]), 1);
}

static void in_place(void)
{
    double_in_place(whole(device_memory[0]), 0);
    relu(whole(device_memory[0]), whole(device_memory[1]), 1);
}

static void rows_that_overlap(void)
{
    relu(rows(device_memory[0], 0, 33), rows(device_memory[1], 0, 33), 0);
    relu(rows(device_memory[2], 32, 32), rows(device_memory[1], 32, 32), 1);
}

static void transposed_view(void)
{
    copy_in(device_memory[0], 0);
    relu(transposed(device_memory[0]), transposed(device_memory[1]), 1);
}

static void freed_too_early(void)
{
    char *memory;
    DO(aclrtMalloc((void **)&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    copy_in(device_memory[0], 0);
    relu(whole(device_memory[0]), whole(memory), 0);
    DO(aclrtFree(memory));
}

/* ---- None ---- */

static void ordered(void)
{
    copy_in(device_memory[0], 0);
    order(0, 1);
    relu(whole(device_memory[0]), whole(device_memory[1]), 1);
    order(1, 0);
    double_in_place(whole(device_memory[1]), 0);
    copy_out(device_memory[1], 0);
}

static void two_readers(void)
{
    relu(whole(device_memory[0]), whole(device_memory[1]), 0);
    relu(whole(device_memory[0]), whole(device_memory[2]), 1);
}

static void rows_apart(void)
{
    relu(rows(device_memory[0], 0, 32), rows(device_memory[1], 0, 32), 0);
    relu(rows(device_memory[0], 32, 32), rows(device_memory[1], 32, 32), 1);
}

static void halves_apart(void)
{
    relu(half(device_memory[0], 0), half(device_memory[1], 0), 0);
    relu(half(device_memory[0], 1), half(device_memory[1], 1), 1);
}

static void freed_after_a_sync(void)
{
    char *memory;
    DO(aclrtMalloc((void **)&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    relu(whole(device_memory[0]), whole(memory), 0);
    DO(aclrtSynchronizeStream(streams[0]));
    DO(aclrtFree(memory));
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"input_not_waited_for", input_not_waited_for},
    {"output_not_waited_for", output_not_waited_for},
    {"one_operator_after_another", one_operator_after_another},
    {"in_place", in_place},
    {"rows_that_overlap", rows_that_overlap},
    {"transposed_view", transposed_view},
    {"freed_too_early", freed_too_early},
    {"ordered", ordered},
    {"two_readers", two_readers},
    {"rows_apart", rows_apart},
    {"halves_apart", halves_apart},
    {"freed_after_a_sync", freed_after_a_sync},
};

int main(int count, char **words)
{
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    for (int i = 0; i < STREAMS; i++) {
        DO(aclrtCreateStream(&streams[i]));
    }
    DO(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    for (int i = 0; i < MEMORY; i++) {
        DO(aclrtMalloc((void **)&device_memory[i], BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        DO(aclrtMemset(device_memory[i], BYTES, 0, BYTES));
    }
    DO(aclrtMallocHost((void **)&host_memory, BYTES));
    require(count == 2, "the name of a case");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!strcmp(cases[i].name, words[1])) {
            cases[i].run();
            for (int stream = 0; stream < STREAMS; stream++) {
                DO(aclrtSynchronizeStream(streams[stream]));
            }
            puts(words[1]);
        }
    }
    for (int i = 0; i < tensor_count; i++) {
        DO(aclDestroyTensor(tensors[i]));
    }
    DO(aclrtFreeHost(host_memory));
    for (int i = 0; i < MEMORY; i++) {
        DO(aclrtFree(device_memory[i]));
    }
    DO(aclrtDestroyEvent(event));
    for (int i = 0; i < STREAMS; i++) {
        DO(aclrtDestroyStream(streams[i]));
    }
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
