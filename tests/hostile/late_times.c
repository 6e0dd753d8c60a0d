// Tasks that are seen done before the runtime has copied their times: on some chips only a synchronisation does that,
// one event after the other.
//
//   late_times TASKS
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 1 << 20 };

static void check(int code, const char *what) {
    if (code != 0) {
        printf("%s: %d\n", what, code);
        exit(1);
    }
}

int main(int count, char **words) {
    int tasks = count > 1 ? atoi(words[1]) : 20;
    aclrtStream stream;
    aclrtEvent event;
    void *memory;
    check(aclInit(NULL), "init");
    check(aclrtSetDevice(0), "device");
    check(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), "memory");
    check(aclrtCreateStream(&stream), "stream");
    check(aclrtCreateEvent(&event), "event");
    for (int done = 0; done < tasks; done += 4) {
        for (int task = 0; task < 4; task++) {
            check(aclrtMemsetAsync(memory, BYTES, task, BYTES, stream), "memset");
        }
        check(aclrtRecordEvent(event, stream), "record");
        aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
        while (status != ACL_EVENT_RECORDED_STATUS_COMPLETE) {
            check(aclrtQueryEventStatus(event, &status), "query");
            usleep(200);
        }
        check(aclrtSynchronizeStream(stream), "wait");
    }
    check(aclrtDestroyEvent(event), "destroy event");
    check(aclrtDestroyStream(stream), "destroy");
    check(aclrtFree(memory), "free");
    check(aclrtResetDevice(0), "reset");
    check(aclFinalize(), "finalize");
    printf("done\n");
    return 0;
}
