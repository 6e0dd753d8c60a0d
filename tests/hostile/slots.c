// After chips on which an event record waits for a place: many tasks on few streams, none of them waited for until
// the end. What the tool records must stay far below what a stream holds.
//
//   slots TASKS STREAMS [ROUNDS]
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 64 };

static void check(int code, const char *what) {
    if (code != 0) {
        printf("%s: %d\n", what, code);
        exit(1);
    }
}

int main(int count, char **words) {
    int tasks = count > 1 ? atoi(words[1]) : 600;
    int streams = count > 2 ? atoi(words[2]) : 2;
    int rounds = count > 3 ? atoi(words[3]) : 1;
    aclrtStream *all = calloc((size_t)streams, sizeof *all);
    void *memory;
    check(aclInit(NULL), "init");
    check(aclrtSetDevice(0), "device");
    check(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), "memory");
    for (int i = 0; i < streams; i++) check(aclrtCreateStream(&all[i]), "stream");
    for (int round = 0; round < rounds; round++) {
        for (int task = 0; task < tasks; task++) {
            for (int i = 0; i < streams; i++) {
                check(aclrtMemsetAsync(memory, BYTES, task, BYTES, all[i]), "memset");
            }
        }
        check(aclrtSynchronizeDevice(), "wait");
    }
    for (int i = 0; i < streams; i++) check(aclrtDestroyStream(all[i]), "destroy");
    check(aclrtFree(memory), "free");
    check(aclrtResetDevice(0), "reset");
    check(aclFinalize(), "finalize");
    printf("done\n");
    free(all);
    return 0;
}
