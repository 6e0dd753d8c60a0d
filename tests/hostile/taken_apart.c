// After a question about a stream that is being taken apart. Streams are destroyed, by force or not, and contexts
// reset, while their tasks are asked about: on a card the question goes on with freed memory, and what was dropped
// has the time 0. Times of the program's own are printed as there or not.
//
//   taken_apart ROUNDS
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 4096, TASKS = 40, STREAMS = 6 };

static void check(int code, const char *what) {
    if (code != 0) {
        printf("%s: %d\n", what, code);
        exit(1);
    }
}

int main(int count, char **words) {
    int rounds = count > 1 ? atoi(words[1]) : 20;
    void *memory;
    check(aclInit(NULL), "init");
    for (int round = 0; round < rounds; round++) {
        aclrtStream streams[STREAMS];
        check(aclrtSetDevice(0), "device");
        check(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), "memory");
        for (int i = 0; i < STREAMS; i++) {
            check(aclrtCreateStream(&streams[i]), "stream");
            for (int task = 0; task < TASKS; task++) {
                check(aclrtMemsetAsync(memory, BYTES, task, BYTES, streams[i]), "memset");
            }
        }
        // Longer than pairs are left alone.
        if (round % 4 == 0) usleep(70000);
        for (int i = 0; i < STREAMS; i++) {
            switch ((round + i) % 3) {
            case 0: check(aclrtDestroyStream(streams[i]), "destroy"); break;
            case 1: check(aclrtDestroyStreamForce(streams[i]), "destroy by force"); break;
            default: break;
            }
        }
        check(round % 2 == 0 ? aclrtResetDevice(0) : aclrtResetDeviceForce(0), "reset");
    }
    check(aclFinalize(), "finalize");
    printf("done\n");
    return 0;
}
