/* Short tasks with long ones between them that nobody can see: submitted by functions below AscendCL of which nothing
 * is known.
 *   below_unknown OFFSET   where the function that fills memory lies in libascendcl.so */
#include "program.h"
#include "below.h"
#include <link.h>

int32_t rtsNewlyMade(void *stream);
void unknown_setup(int32_t (*fill)(void *, size_t, int32_t, size_t, void *), void *memory, size_t size);

static uintptr_t base;

static int find(struct dl_phdr_info *object, size_t size, void *data)
{
    (void)size;
    (void)data;
    if (strstr(object->dlpi_name, "libascendcl.so") != NULL) {
        base = object->dlpi_addr;
    }
    return 0;
}

int main(int count, char **words)
{
    enum { BYTES = 32 << 20, ROUNDS = 20 };
    aclrtStream stream;
    void *memory;

    dl_iterate_phdr(find, NULL);
    require(base != 0 && count > 1, "the runtime is there");
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    unknown_setup((void *)(base + strtoull(words[1], NULL, 16)), memory, BYTES);
    for (int round = 0; round < ROUNDS; round++) {
        DO(rtKernelLaunch(&base, 1, memory, 8, NULL, stream));
        DO(rtKernelLaunch(&base, 1, memory, 8, NULL, stream));
        if (round % 2 == 0) {
            DO(rtsNewlyMade(stream));
        } else {
            DO(rtSetStreamOverflowSwitch(stream, 1));
        }
        DO(rtKernelLaunch(&base, 1, memory, 8, NULL, stream));
    }
    DO(aclrtSynchronizeStream(stream));
    DO(aclrtFree(memory));
    DO(aclrtDestroyStream(stream));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
