// After records of the tool's own that were never reached: a stream is captured by calls that nobody can see. A record
// goes nowhere then, and its event, which was used before, shows its old time.
//
//   unseen_capture TASKS
#define _GNU_SOURCE
#include <acl/acl.h>
#include "hidden.h"

enum { BYTES = 64 };

static void check(int code, const char *what) {
    if (code != 0) {
        printf("%s: %d\n", what, code);
        exit(1);
    }
}

int main(int count, char **words) {
    int tasks = count > 1 ? atoi(words[1]) : 10;
    aclrtStream stream;
    aclmdlRI graph;
    char *memory;
    aclError (*begin)(aclrtStream, aclmdlRICaptureMode) =
        (aclError(*)(aclrtStream, aclmdlRICaptureMode))hidden("aclmdlRICaptureBegin");
    aclError (*end)(aclrtStream, aclmdlRI *) =
        (aclError(*)(aclrtStream, aclmdlRI *))hidden("aclmdlRICaptureEnd");
    check(aclInit(NULL), "init");
    check(aclrtSetDevice(0), "device");
    check(aclrtCreateStream(&stream), "stream");
    check(aclrtMalloc((void **)&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), "memory");
    for (int part = 0; part < 3; part++) {
        int count = part == 1 ? tasks / 2 : tasks;
        if (part == 1) check(begin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), "begin");
        for (int task = 0; task < count; task++) {
            check(aclrtMemsetAsync(memory, BYTES, part * tasks + task, BYTES, stream), "memset");
        }
        if (part == 1) check(end(stream, &graph), "end");
        // Each gives the tool the time to read some events, so that those which are used next have old times.
        for (int i = 0; i < 500; i++) check(aclrtSynchronizeStream(stream), "wait");
        printf("part %d: %d\n", part, memory[0]);
    }
    check(aclmdlRIDestroy(graph), "graph");
    check(aclrtDestroyStream(stream), "destroy");
    check(aclrtFree(memory), "free");
    check(aclrtResetDevice(0), "reset");
    check(aclFinalize(), "finalize");
    return 0;
}
