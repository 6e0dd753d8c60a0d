/* A caching allocator that reports its blocks by mstx as torch_npu does: the heap, with all that is reserved, before each
 * block. Another allocator reports a block without a heap. Four steps allocate blocks and free them. The last one asks the
 * runtime for more than is left. Prints by the allocator's own count: the most that was allocated, what was reserved then,
 * the most that was reserved, reserved and unused at the failed call, and reserved and allocated at the end. */
#include "program.h"

#include "acl/acl_rt.h"

enum { MIB = 1 << 20, SEGMENT = 8 * MIB, SEGMENTS = 8, BLOCKS = 64, STEPS = 4, TOO_MUCH = 1010 * MIB };

struct range {
    uint32_t device;
    void *address;
    uint64_t size;
};

struct heap {
    int usage, type;
    const void *range;
};

struct regions {
    void *heap;
    int type;
    size_t count;
    const void *ranges;
    void **handles;
};

struct reference {
    int type;
    const void *address;
};

struct references {
    size_t count;
    const struct reference *all;
};

uint64_t mstxRangeStartA(const char *message, aclrtStream stream);
void mstxRangeEnd(uint64_t id);
void *mstxDomainCreateA(const char *name);
void *mstxMemHeapRegister(void *domain, const struct heap *heap);
void mstxMemRegionsRegister(void *domain, const struct regions *regions);
void mstxMemRegionsUnregister(void *domain, const struct references *references);

static struct {
    char *memory;
    size_t used;
    int blocks;
} segments[SEGMENTS];

static struct {
    char *address;
    size_t size;
    int segment;
} blocks[BLOCKS];

static size_t reserved, allocated, most, most_reserved, reserved_at_most;

static void report_heap(void *address)
{
    struct range range = {0, address, reserved};
    struct heap heap = {-1, -1, &range};

    mstxMemHeapRegister(mstxDomainCreateA("msleaks"), &heap);
}

static void report(void *address, size_t size)
{
    struct range range = {0, address, size};
    struct regions regions = {NULL, -1, 1, &range, NULL};

    mstxMemRegionsRegister(mstxDomainCreateA("msleaks"), &regions);
}

static void report_end(void *address)
{
    struct reference reference = {0, address};
    struct references references = {1, &reference};

    mstxMemRegionsUnregister(mstxDomainCreateA("msleaks"), &references);
}

static int allocate(size_t size)
{
    int segment = 0, block = 0;

    while (segments[segment].memory && segments[segment].used + size > SEGMENT)
        segment++;
    require(segment < SEGMENTS, "there is a segment");
    if (!segments[segment].memory) {
        DO(aclrtMalloc((void **)&segments[segment].memory, SEGMENT, ACL_MEM_MALLOC_HUGE_FIRST));
        reserved += SEGMENT;
    }
    while (blocks[block].size)
        block++;
    blocks[block].address = segments[segment].memory + segments[segment].used;
    blocks[block].size = size;
    blocks[block].segment = segment;
    segments[segment].used += size;
    segments[segment].blocks++;
    allocated += size;
    if (allocated > most) {
        most = allocated;
        reserved_at_most = reserved;
    }
    if (reserved > most_reserved)
        most_reserved = reserved;
    report_heap(blocks[block].address);
    report(blocks[block].address, size);
    return block;
}

static void give_back(int block)
{
    int segment = blocks[block].segment;

    allocated -= blocks[block].size;
    blocks[block].size = 0;
    if (--segments[segment].blocks == 0)
        segments[segment].used = 0;
    report_heap(blocks[block].address);
    report_end(blocks[block].address);
}

static void release_unused(void)
{
    for (int i = 0; i < SEGMENTS; i++) {
        if (segments[i].memory && !segments[i].blocks) {
            DO(aclrtFree(segments[i].memory));
            segments[i].memory = NULL;
            reserved -= SEGMENT;
        }
    }
}

int main(void)
{
    size_t unused = 0;
    void *none, *workspace, *pinned;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMallocHost(&pinned, 4096));
    DO(aclrtMalloc(&workspace, MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    report(workspace, MIB);
    allocate(3 * 512);
    for (int i = 1; i <= STEPS; i++) {
        char name[32];
        uint64_t range;
        int taken[8], count = 2 + i % 3;

        snprintf(name, sizeof(name), "step %d", i);
        range = mstxRangeStartA(name, NULL);
        for (int j = 0; j < count; j++)
            taken[j] = allocate(3 * MIB + 512 * (size_t)i);
        for (int j = 0; j < count; j++)
            give_back(taken[j]);
        if (i == STEPS) {
            unused = reserved - allocated;
            printf("failed: %d\n", aclrtMalloc(&none, TOO_MUCH, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS);
        }
        mstxRangeEnd(range);
    }
    release_unused();
    report_end(workspace);
    DO(aclrtFree(workspace));
    printf("%zu %zu %zu %zu %zu %zu\n", most, reserved_at_most, most_reserved, unused, reserved, allocated);
    DO(aclrtFreeHost(pinned));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
