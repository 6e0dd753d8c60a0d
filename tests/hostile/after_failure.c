// After questions about a context that has failed: each takes the text of the failure to the thread that asked. The third
// synchronisation is made to fail; the program goes on as some do, and prints what it is told.
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 64, ROUNDS = 6, TASKS = 10 };

static void check(int code, const char *what) {
    if (code != 0) {
        printf("%s: %d\n", what, code);
        exit(1);
    }
}

int main(void) {
    aclrtStream stream;
    void *memory;
    check(aclInit(NULL), "init");
    check(aclrtSetDevice(0), "device");
    check(aclrtCreateStream(&stream), "stream");
    check(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), "memory");
    for (int round = 0; round < ROUNDS; round++) {
        for (int task = 0; task < TASKS; task++) {
            check(aclrtMemsetAsync(memory, BYTES, task, BYTES, stream), "memset");
        }
        int code = aclrtSynchronizeStream(stream);
        // Longer than pairs are left alone.
        if (code != 0) usleep(70000);
        const char *text = aclGetRecentErrMsg();
        printf("round %d: %d, %s\n", round, code, text == NULL ? "says nothing" : "says why");
    }
    check(aclrtFree(memory), "free");
    check(aclrtDestroyStream(stream), "destroy");
    check(aclrtResetDevice(0), "reset");
    check(aclFinalize(), "finalize");
    return 0;
}
