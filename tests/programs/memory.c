/* Memory of a device of 1 GiB. Each of five steps keeps 64 MiB, and has 256 MiB in between. The sixth asks for more than
 * is left. Prints by the runtime's own count: the bytes in use at the peak, at the failed call, and at the end. */
#include "program.h"

#include "acl/acl_rt.h"

enum { STEPS = 5, MIB = 1 << 20, KEPT = 64 * MIB, BETWEEN = 256 * MIB, TOO_MUCH = 800 * MIB };

uint64_t mstxRangeStartA(const char *message, aclrtStream stream);
void mstxRangeEnd(uint64_t id);

static size_t in_use(void)
{
    size_t left, all;

    DO(aclrtGetMemInfo(ACL_HBM_MEM, &left, &all));
    return all - left;
}

static void *__attribute__((noinline)) kept(void)
{
    void *memory;

    DO(aclrtMalloc(&memory, KEPT, ACL_MEM_MALLOC_HUGE_FIRST));
    return memory;
}

static size_t __attribute__((noinline)) between(void)
{
    void *memory;
    size_t used;

    DO(aclrtMalloc(&memory, BETWEEN, ACL_MEM_MALLOC_HUGE_FIRST));
    used = in_use();
    DO(aclrtFree(memory));
    return used;
}

int main(void)
{
    size_t peak = 0, refused, first;
    void *all[STEPS], *pinned, *none;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    first = in_use();
    DO(aclrtMallocHost(&pinned, 4096));
    for (int i = 1; i <= STEPS + 1; i++) {
        char name[32];
        uint64_t range;

        snprintf(name, sizeof(name), "step %d", i);
        range = mstxRangeStartA(name, NULL);
        if (i <= STEPS) {
            size_t used;

            all[i - 1] = kept();
            used = between();
            peak = used > peak ? used : peak;
        } else {
            refused = in_use();
            printf("failed: %d\n", aclrtMalloc(&none, TOO_MUCH, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS);
        }
        mstxRangeEnd(range);
    }
    DO(aclrtFree(all[0]));
    printf("%zu %zu %zu\n", peak - first, refused - first, in_use() - first);
    DO(aclrtFreeHost(pinned));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
