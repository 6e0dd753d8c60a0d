// AscendCL is ended while a device is set, and begun again: what was there before is gone.
//
//   begun_again ROUNDS
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TASKS = 20, BYTES = 1 << 16 };

static void check(int code, const char *what) {
    if (code != 0) {
        printf("%s: %d\n", what, code);
        exit(1);
    }
}

static void work(void) {
    aclrtContext other;
    aclrtStream stream;
    void *memory;
    check(aclrtCreateContext(&other, 0), "context");
    check(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), "memory");
    check(aclrtCreateStream(&stream), "stream");
    for (int task = 0; task < TASKS; task++) {
        check(aclrtMemsetAsync(memory, BYTES, task, BYTES, stream), "memset");
        check(aclrtSynchronizeStream(stream), "wait");
        usleep(2000);
    }
}

int main(int count, char **words) {
    int rounds = count > 1 ? atoi(words[1]) : 3;
    for (int round = 0; round < rounds; round++) {
        check(aclInit(NULL), "init");
        check(aclrtSetDevice(0), "device");
        work();
        check(aclFinalize(), "finalize");
        aclrtResetDevice(0);
    }
    printf("done\n");
    return 0;
}
