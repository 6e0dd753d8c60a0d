// After a device that is reset by force while contexts of the program's own live on it: nobody says what becomes of
// them, so nothing is asked about them meanwhile. Here they live on, and are used again.
//
//   forced_reset ROUNDS
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TASKS = 20, BYTES = 64 };

static void check(int code, const char *what) {
    if (code != 0) {
        printf("%s: %d\n", what, code);
        exit(1);
    }
}

int main(int count, char **words) {
    int rounds = count > 1 ? atoi(words[1]) : 5;
    aclrtContext own;
    aclrtStream stream;
    void *memory;
    check(aclInit(NULL), "init");
    check(aclrtCreateContext(&own, 0), "context");
    check(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), "memory");
    check(aclrtCreateStream(&stream), "stream");
    for (int round = 0; round < rounds; round++) {
        check(aclrtSetDevice(0), "device");
        check(aclrtSetCurrentContext(own), "own context");
        for (int task = 0; task < TASKS; task++) {
            check(aclrtMemsetAsync(memory, BYTES, task, BYTES, stream), "memset");
        }
        // Longer than pairs are left alone: the tool's thread asks about them.
        if (round % 2 == 0) usleep(60000);
        check(aclrtResetDeviceForce(0), "reset");
    }
    check(aclrtSetCurrentContext(own), "own context");
    check(aclrtMemsetAsync(memory, BYTES, rounds, BYTES, stream), "memset");
    check(aclrtSynchronizeStream(stream), "wait");
    check(aclrtDestroyStream(stream), "destroy");
    check(aclrtFree(memory), "free");
    check(aclrtDestroyContext(own), "destroy context");
    check(aclFinalize(), "finalize");
    printf("done\n");
    return 0;
}
