/* Physical memory by handle, as expandable segments use it: each of four steps maps one more piece behind the last one. The
 * second piece has a second address. Then pieces go back in both orders: address first, and handle first.
 * Prints by the runtime's own count the bytes in use after each change. */
#include "program.h"

#include "acl/acl_rt.h"

enum { PIECES = 4, PIECE = 32 << 20 };

static size_t first;

static void print_in_use(void)
{
    size_t left, all;

    DO(aclrtGetMemInfo(ACL_HBM_MEM, &left, &all));
    printf("%zu ", all - left - first);
}

static aclrtDrvMemHandle __attribute__((noinline)) piece(void)
{
    aclrtPhysicalMemProp properties;
    aclrtDrvMemHandle handle;

    memset(&properties, 0, sizeof properties);
    properties.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    properties.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    properties.memAttr = ACL_HBM_MEM_HUGE;
    properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    DO(aclrtMallocPhysical(&handle, PIECE, &properties, 0));
    return handle;
}

int main(void)
{
    aclrtDrvMemHandle handles[PIECES];
    char *segment, *other;
    void *plain;
    size_t left, all;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtGetMemInfo(ACL_HBM_MEM, &left, &all));
    first = all - left;
    DO(aclrtReserveMemAddress((void **)&segment, (size_t)PIECES * PIECE, 0, NULL, 0));
    DO(aclrtReserveMemAddress((void **)&other, PIECE, 0, NULL, 0));
    print_in_use();
    for (int i = 0; i < PIECES; i++) {
        handles[i] = piece();
        DO(aclrtMapMem(segment + (size_t)i * PIECE, PIECE, 0, handles[i], 0));
        print_in_use();
    }
    DO(aclrtMapMem(other, PIECE, 0, handles[1], 0));
    print_in_use();
    DO(aclrtMalloc(&plain, PIECE, ACL_MEM_MALLOC_HUGE_FIRST));
    print_in_use();
    /* The address first. */
    DO(aclrtUnmapMem(segment));
    print_in_use();
    DO(aclrtFreePhysical(handles[0]));
    print_in_use();
    /* The handle first, and two addresses. */
    DO(aclrtFreePhysical(handles[1]));
    DO(aclrtUnmapMem(segment + PIECE));
    print_in_use();
    DO(aclrtUnmapMem(other));
    print_in_use();
    DO(aclrtFree(plain));
    print_in_use();
    puts("");
    return 0;
}
