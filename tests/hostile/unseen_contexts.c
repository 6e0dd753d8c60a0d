// After contexts and devices that AscendCL never showed: a library sets the device and makes contexts by the layer
// below, and a thread lives on the default device. What is submitted there is to be timed.
//
//   unseen_contexts TASKS
#define _GNU_SOURCE
#include <acl/acl.h>
#include <pthread.h>
#include "hidden.h"

enum { BYTES = 64 };

static int tasks = 10;

static void check(int code, const char *what) {
    if (code != 0) {
        printf("%s: %d\n", what, code);
        exit(1);
    }
}

static void fill(void) {
    aclrtStream stream;
    void *memory;
    check(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), "memory");
    check(aclrtCreateStream(&stream), "stream");
    for (int task = 0; task < tasks; task++) {
        check(aclrtMemsetAsync(memory, BYTES, task, BYTES, stream), "memset");
    }
    check(aclrtSynchronizeStream(stream), "wait");
    check(aclrtDestroyStream(stream), "destroy");
    check(aclrtFree(memory), "free");
}

static void *on_default_device(void *nothing) {
    fill();
    return nothing;
}

int main(int count, char **words) {
    if (count > 1) tasks = atoi(words[1]);
    int (*set_device)(int32_t) = (int (*)(int32_t))hidden("rtSetDevice");
    int (*create)(void **, uint32_t, int32_t) =
        (int (*)(void **, uint32_t, int32_t))hidden("rtCtxCreate");
    int (*destroy)(void *) = (int (*)(void *))hidden("rtCtxDestroy");
    int (*set_default)(int32_t) = (int (*)(int32_t))hidden("rtSetDefaultDeviceId");
    pthread_t thread;
    void *context;
    check(aclInit(NULL), "init");
    check(set_device(0), "device");
    fill();
    check(create(&context, 0, 1), "context");
    fill();
    check(destroy(context), "destroy context");
    check(set_default(1), "default device");
    check(pthread_create(&thread, NULL, on_default_device, NULL), "thread");
    pthread_join(thread, NULL);
    printf("done\n");
    return 0;
}
