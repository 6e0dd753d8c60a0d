// After the id of a thread's last task, before the thread has submitted one: tasks of the tool's must not be taken for
// it. One thread only waits for what another has submitted; a call that fails has submitted nothing, and neither has a
// copy that the host makes.
#include <acl/acl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 64, ROUNDS = 5 };

static aclrtContext context;
static aclrtStream stream;
static void *memory;

static void check(int code, const char *what) {
    if (code != 0) {
        printf("%s: %d\n", what, code);
        exit(1);
    }
}

static void tell(const char *who) {
    uint32_t id = 77;
    int code = aclrtGetThreadLastTaskId(&id);
    printf("%s: %d %u\n", who, code, id);
}

static void *wait_only(void *data) {
    (void)data;
    check(aclrtSetCurrentContext(context), "context");
    for (int i = 0; i < ROUNDS; i++) {
        check(aclrtSynchronizeStream(stream), "wait");
        tell("a thread that waits");
        usleep(15000);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    check(aclInit(NULL), "init");
    check(aclrtSetDevice(0), "device");
    check(aclrtGetCurrentContext(&context), "context");
    check(aclrtCreateStream(&stream), "stream");
    check(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), "memory");
    tell("before any task");
    int failed = aclrtMemsetAsync(memory, BYTES, 1, BYTES * 2, stream);
    printf("a task that fails: %s\n", failed != 0 ? "refused" : "accepted");
    tell("after a task that failed");
    check(aclrtMemsetAsync(memory, BYTES, 1, BYTES, stream), "memset");
    static char pageable[BYTES];
    uint32_t before = 77, after = 78;
    check(aclrtGetThreadLastTaskId(&before), "id");
    check(aclrtMemcpyAsync(pageable, BYTES, memory, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream), "copy");
    check(aclrtGetThreadLastTaskId(&after), "id");
    printf("after a copy by the host: %s\n", before == after ? "the same" : "another");
    check(pthread_create(&thread, NULL, wait_only, NULL), "thread");
    check(pthread_join(thread, NULL), "join");
    check(aclrtFree(memory), "free");
    check(aclrtDestroyStream(stream), "destroy");
    check(aclrtResetDevice(0), "reset");
    check(aclFinalize(), "finalize");
    return 0;
}
