/* Operators that have no wrapper, fetched by name as frameworks do: one case by its name. Every case ends by itself.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <dlfcn.h>

#include "program.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"

enum { ROWS = 2, COLUMNS = 4, COUNT = ROWS * COLUMNS, BYTES = 4096, STREAMS = 2, MEMORY = 8 };

#define ANSWERS uint64_t *size, aclOpExecutor **executor

#define OPERATORS(F)                                                                                 \
    F(LayerNorm, const aclTensor *input, const aclIntArray *shape, const aclTensor *weight,          \
      const aclTensor *bias, double eps, aclTensor *out, aclTensor *mean, aclTensor *rstd)           \
    F(ApplyAdamWV2, aclTensor *var, aclTensor *m, aclTensor *v, aclTensor *most,                     \
      const aclTensor *grad, const aclTensor *step, float lr, float beta1, float beta2,              \
      float decay, float eps, bool amsgrad, bool maximize)                                           \
    F(Cat, const aclTensorList *tensors, int64_t dim, aclTensor *out)                                \
    F(Cumsum, const aclTensor *self, int64_t dim, aclDataType type, aclTensor *out)                  \
    F(ConstantPadNd, const aclTensor *self, const aclIntArray *pad, const aclScalar *value,          \
      aclTensor *out)                                                                                \
    F(Addmm, const aclTensor *self, const aclTensor *one, const aclTensor *other,                    \
      const aclScalar *beta, const aclScalar *alpha, aclTensor *out, int8_t type)                    \
    F(Sort, const aclTensor *self, bool stable, int64_t dim, bool descending, aclTensor *values,     \
      aclTensor *indices)                                                                            \
    F(GeluBackwardV2, const aclTensor *grad, const aclTensor *self, const char *approximate,         \
      aclTensor *out)                                                                                \
    F(InplaceTril, aclTensor *self, int64_t diagonal)                                                \
    F(Tril, const aclTensor *self, int64_t diagonal, aclTensor *out)

typedef aclnnStatus (*submit)(void *, uint64_t, aclOpExecutor *, aclrtStream);

#define F(name, ...)                                                                                 \
    static aclnnStatus (*plan_##name)(__VA_ARGS__, ANSWERS);                                         \
    static submit run_##name;
OPERATORS(F)
#undef F

static void fetch(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    require(library != NULL, "the library loads");
#define F(name, ...)                                                                                 \
    *(void **)&plan_##name = dlsym(library, "aclnn" #name "GetWorkspaceSize");                       \
    *(void **)&run_##name = dlsym(library, "aclnn" #name);
    OPERATORS(F)
#undef F
}

static aclrtStream streams[STREAMS];
static char *device_memory[MEMORY], *workspace;
static aclrtEvent event;

#define SUBMIT(name, stream, ...)                                                                    \
    do {                                                                                             \
        uint64_t size = 0;                                                                           \
        aclOpExecutor *executor = NULL;                                                              \
        DO(plan_##name(__VA_ARGS__, &size, &executor));                                              \
        require(size <= BYTES, "a small workspace");                                                 \
        DO(run_##name(size == 0 ? NULL : workspace + (stream) * BYTES, size, executor,               \
                      streams[stream]));                                                             \
    } while (0)

static aclTensor *tensor(void *memory, aclDataType type, int64_t rows, int64_t columns)
{
    const int64_t dims[2] = {rows, columns};
    aclTensor *made = aclCreateTensor(dims, 2, type, NULL, 0, ACL_FORMAT_ND, dims, 2, memory);
    require(made != NULL, "a tensor");
    return made;
}

static aclTensor *matrix(int memory)
{
    return tensor(device_memory[memory], ACL_FLOAT, ROWS, COLUMNS);
}

static void show(const char *name, int memory, int count)
{
    float values[BYTES / 4];
    DO(aclrtSynchronizeStream(streams[0]));
    DO(aclrtMemcpy(values, BYTES, device_memory[memory], BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
    printf("%s", name);
    for (int i = 0; i < count; i++) {
        printf(" %g", values[i]);
    }
    printf("\n");
}

/* Parameters of every kind. */
static void kinds(void)
{
    const int64_t last[1] = {COLUMNS}, edges[4] = {1, 1, 0, 1};
    float two = 2, half = 0.5f;
    uint64_t size;
    aclOpExecutor *executor;
    aclTensor *column = tensor(device_memory[5], ACL_FLOAT, ROWS, 1);
    aclTensor *other_column = tensor(device_memory[6], ACL_FLOAT, ROWS, 1);
    aclIntArray *shape = aclCreateIntArray(last, 1), *pad = aclCreateIntArray(edges, 4);
    aclScalar *scalar = aclCreateScalar(&two, ACL_FLOAT), *beta = aclCreateScalar(&half, ACL_FLOAT);

    SUBMIT(LayerNorm, 0, matrix(0), shape, NULL, NULL, 0.25, matrix(1), column, other_column);
    show("norm", 1, COUNT);
    int64_t none = 0;
    float one = 1;
    DO(aclrtMemcpy(device_memory[7], 4, &one, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    aclTensor *step = aclCreateTensor(&none, 0, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &none, 0, device_memory[7]);
    SUBMIT(ApplyAdamWV2, 0, matrix(1), matrix(2), matrix(3), NULL, matrix(0), step, 0.5f, 0.75f, 0.875f,
           0.125f, 0.0625f, false, true);
    show("adam", 1, COUNT);
    aclTensor *both[2] = {matrix(0), matrix(1)};
    aclTensorList *list = aclCreateTensorList((const aclTensor *const *)both, 2);
    SUBMIT(Cat, 0, list, -2, tensor(device_memory[4], ACL_FLOAT, 2 * ROWS, COLUMNS));
    show("cat", 4, 2 * COUNT);
    SUBMIT(Cumsum, 0, matrix(0), -1, ACL_FLOAT, matrix(4));
    show("cumsum", 4, COUNT);
    SUBMIT(ConstantPadNd, 0, matrix(0), pad, scalar, tensor(device_memory[4], ACL_FLOAT, ROWS + 1, COLUMNS + 2));
    show("pad", 4, (ROWS + 1) * (COLUMNS + 2));
    SUBMIT(Addmm, 0, tensor(device_memory[1], ACL_FLOAT, ROWS, ROWS), matrix(0),
           tensor(device_memory[2], ACL_FLOAT, COLUMNS, ROWS), beta, scalar,
           tensor(device_memory[4], ACL_FLOAT, ROWS, ROWS), 1);
    show("addmm", 4, ROWS * ROWS);
    SUBMIT(Sort, 0, matrix(0), true, -1, false, matrix(4), tensor(device_memory[3], ACL_INT64, ROWS, COLUMNS));
    show("sort", 4, COUNT);
    SUBMIT(GeluBackwardV2, 0, matrix(0), matrix(1), "tanh", matrix(4));
    show("gelu", 4, COUNT);
    SUBMIT(InplaceTril, 0, matrix(0), -1);
    show("tril", 0, COUNT);
    printf("refused %d\n", plan_Tril(matrix(0), 1, NULL, &size, &executor));
}

/* ---- Two streams ---- */

static aclTensor *large(int memory)
{
    return tensor(device_memory[memory], ACL_FLOAT, 16, 16);
}

static void output_not_waited_for(void)
{
    SUBMIT(Tril, 0, large(0), 0, large(1));
    SUBMIT(Tril, 1, large(1), 0, large(2));
}

static void second_output_not_waited_for(void)
{
    SUBMIT(Sort, 0, tensor(device_memory[0], ACL_INT64, 16, 16), false, 0, false,
           tensor(device_memory[1], ACL_INT64, 16, 16), tensor(device_memory[2], ACL_INT64, 16, 16));
    SUBMIT(Tril, 1, tensor(device_memory[2], ACL_INT64, 16, 16), 0, tensor(device_memory[3], ACL_INT64, 16, 16));
}

static void in_place(void)
{
    SUBMIT(InplaceTril, 0, large(0), 0);
    SUBMIT(Tril, 1, large(0), 0, large(1));
}

static void moments_not_waited_for(void)
{
    float one = 1;
    int64_t none = 0;
    DO(aclrtMemcpy(device_memory[7], 4, &one, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    aclTensor *step = aclCreateTensor(&none, 0, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &none, 0, device_memory[7]);
    SUBMIT(ApplyAdamWV2, 0, large(0), large(1), large(2), NULL, large(3), step, 0.5f, 0.75f, 0.875f, 0.125f, 0.0625f,
           false, false);
    SUBMIT(Tril, 1, large(2), 0, large(4));
}

static void two_readers(void)
{
    SUBMIT(Tril, 0, large(0), 0, large(1));
    SUBMIT(Tril, 1, large(0), 0, large(2));
}

static void ordered(void)
{
    SUBMIT(Tril, 0, large(0), 0, large(1));
    DO(aclrtRecordEvent(event, streams[0]));
    DO(aclrtStreamWaitEvent(streams[1], event));
    SUBMIT(Tril, 1, large(1), 0, large(2));
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"kinds", kinds},
    {"output_not_waited_for", output_not_waited_for},
    {"second_output_not_waited_for", second_output_not_waited_for},
    {"in_place", in_place},
    {"moments_not_waited_for", moments_not_waited_for},
    {"two_readers", two_readers},
    {"ordered", ordered},
};

int main(int count, char **words)
{
    float values[BYTES / 4];

    fetch("libopapi.so");
    for (int i = 0; i < BYTES / 4; i++) {
        values[i] = (float)(i * 7 % 5);
    }
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    for (int i = 0; i < STREAMS; i++) {
        DO(aclrtCreateStream(&streams[i]));
    }
    DO(aclrtCreateEvent(&event));
    DO(aclrtMalloc((void **)&workspace, STREAMS * BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < MEMORY; i++) {
        DO(aclrtMalloc((void **)&device_memory[i], BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        DO(aclrtMemcpy(device_memory[i], BYTES, values, BYTES, ACL_MEMCPY_HOST_TO_DEVICE));
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (count == 2 && strcmp(words[1], cases[i].name) == 0) {
            cases[i].run();
            puts(cases[i].name);
        }
    }
    for (int i = 0; i < STREAMS; i++) {
        DO(aclrtSynchronizeStream(streams[i]));
    }
    for (int i = 0; i < MEMORY; i++) {
        DO(aclrtFree(device_memory[i]));
    }
    DO(aclrtFree(workspace));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
