/* Plans and submits operators that no table has, and prints what they did. */
#include "untyped_operators.h"

#ifdef FETCHED
/* From the library that the argument names, as frameworks do. */
#include <dlfcn.h>

#define FUNCTIONS(F)                                                                                 \
    F(aclnnOwnBlendGetWorkspaceSize)                                                                 \
    F(aclnnOwnBlend)                                                                                 \
    F(aclnnOwnWideGetWorkspaceSize)                                                                  \
    F(aclnnOwnWide)                                                                                  \
    F(aclnnOwnInit)                                                                                  \
    F(own_executor)

#define F(name) static __typeof__(name) *fetched_##name;
FUNCTIONS(F)
#undef F

static void fetch(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    require(library != NULL, "the library loads");
#define F(name) fetched_##name = (__typeof__(name) *)dlsym(library, #name);
    FUNCTIONS(F)
#undef F
}

#define aclnnOwnBlendGetWorkspaceSize fetched_aclnnOwnBlendGetWorkspaceSize
#define aclnnOwnBlend fetched_aclnnOwnBlend
#define aclnnOwnWideGetWorkspaceSize fetched_aclnnOwnWideGetWorkspaceSize
#define aclnnOwnWide fetched_aclnnOwnWide
#define aclnnOwnInit fetched_aclnnOwnInit
#define own_executor fetched_own_executor
#else
static void fetch(const char *path)
{
    (void)path;
}
#endif

static void *memory;

static aclTensor *tensor(aclDataType type, int rank, const int64_t *dims)
{
    aclTensor *made = aclCreateTensor(dims, (uint64_t)rank, type, NULL, 0, ACL_FORMAT_ND, dims,
                                      (uint64_t)rank, memory);
    require(made != NULL, "a tensor");
    return made;
}

static void show(const char *name, aclrtStream stream)
{
    unsigned char bytes[256];
    DO(aclrtSynchronizeStream(stream));
    DO(aclrtMemcpy(bytes, sizeof bytes, memory, sizeof bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    printf("%s %d %d\n", name, bytes[0], bytes[255]);
}

int main(int argc, char **argv)
{
    const int64_t flat[3] = {2, 3, 4}, matrix[2] = {4, 2}, axes[2] = {0, 1};
    float two = 2;
    char letter = 3;
    uint64_t size = 7;
    aclOpExecutor *executor = NULL, *first = NULL;
    aclrtStream stream;
    void *workspace;

    fetch(argv[argc - 1]);
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMalloc(&workspace, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    aclTensor *a = tensor(ACL_FLOAT, 2, matrix), *b = tensor(ACL_FLOAT16, 3, flat);
    aclTensor *c = tensor(ACL_INT64, 0, flat), *out = tensor(ACL_BF16, 2, matrix);
    aclIntArray *dims = aclCreateIntArray(axes, 2);
    aclScalar *scalar = aclCreateScalar(&two, ACL_FLOAT);

    printf("init %d\n", aclnnOwnInit(1, 2, 3, 4, 5));
    for (int round = 0; round < 4; round++) {
        DO(aclnnOwnBlendGetWorkspaceSize(a, round + 0.5, b, round & 1, out, &size, &executor));
        printf("workspace %d\n", (int)size);
        DO(aclnnOwnBlend(workspace, size, executor, stream));
        show("blend", stream);
    }
    printf("refused %d\n", aclnnOwnBlendGetWorkspaceSize(a, 1, b, 0, NULL, &size, &executor));

    /* Planned in one order, submitted in another. */
    DO(aclnnOwnWideGetWorkspaceSize(a, b, c, a, dims, 5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, true, &letter,
                                    c, scalar, out, &size, &first));
    DO(aclnnOwnBlendGetWorkspaceSize(b, 2, c, 0, out, &size, &executor));
    DO(aclnnOwnBlend(workspace, size, executor, stream));
    show("blend", stream);
    DO(aclnnOwnWide(NULL, 0, first, stream));
    show("wide", stream);
    DO(aclnnOwnWideGetWorkspaceSize(b, b, c, a, dims, 6, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, true, &letter,
                                    NULL, scalar, out, &size, &first));
    DO(aclnnOwnWide(NULL, 0, first, stream));
    show("wide", stream);
    DO(aclnnOwnBlend(workspace, size, own_executor(memory), stream));
    show("unplanned", stream);
    printf("no workspace %d\n", aclnnOwnBlend(NULL, 1, NULL, stream));

    DO(aclDestroyIntArray(dims));
    DO(aclDestroyScalar(scalar));
    DO(aclrtFree(memory));
    DO(aclrtDestroyStream(stream));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
