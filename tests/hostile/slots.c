// After chips on which an event record waits for a place: many tasks on few streams, none of them waited for until
// the end. What the tool records must stay far below what a stream holds.
//
//   slots TASKS STREAMS [ROUNDS [BYTES]]
//
// With BYTES, one stream sets so many of them in each round, and the others wait for that: their tasks are in the
// queue before they are reached, however slow the host is.
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
    size_t gate_bytes = count > 4 ? strtoul(words[4], NULL, 10) : 0;
    aclrtStream gate = NULL;
    aclrtEvent opened = NULL;
    void *gate_memory = NULL;
    aclrtStream *all = calloc((size_t)streams, sizeof *all);
    void *memory;
    check(aclInit(NULL), "init");
    check(aclrtSetDevice(0), "device");
    check(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), "memory");
    for (int i = 0; i < streams; i++) check(aclrtCreateStream(&all[i]), "stream");
    if (gate_bytes > 0) {
        check(aclrtMalloc(&gate_memory, gate_bytes, ACL_MEM_MALLOC_HUGE_FIRST), "gate's memory");
        check(aclrtCreateStream(&gate), "gate");
        check(aclrtCreateEvent(&opened), "event");
    }
    for (int round = 0; round < rounds; round++) {
        if (gate != NULL) {
            check(aclrtMemsetAsync(gate_memory, gate_bytes, round, gate_bytes, gate), "gate's memset");
            check(aclrtRecordEvent(opened, gate), "record");
            for (int i = 0; i < streams; i++) check(aclrtStreamWaitEvent(all[i], opened), "wait for the gate");
        }
        for (int task = 0; task < tasks; task++) {
            for (int i = 0; i < streams; i++) {
                check(aclrtMemsetAsync(memory, BYTES, task, BYTES, all[i]), "memset");
            }
        }
        check(aclrtSynchronizeDevice(), "wait");
    }
    for (int i = 0; i < streams; i++) check(aclrtDestroyStream(all[i]), "destroy");
    if (gate != NULL) {
        check(aclrtDestroyEvent(opened), "event's end");
        check(aclrtDestroyStream(gate), "gate's end");
        check(aclrtFree(gate_memory), "gate's memory's end");
    }
    check(aclrtFree(memory), "free");
    check(aclrtResetDevice(0), "reset");
    check(aclFinalize(), "finalize");
    printf("done\n");
    free(all);
    return 0;
}
