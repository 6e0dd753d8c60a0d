// After streams of models, on which nothing of the tool's may be recorded: made by every flag, as an argument and in a
// configuration. And after copies whose direction the runtime finds out: pageable memory is copied by the host.
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4096, FLAGS = 3 };

static const uint32_t flags[FLAGS] = {ACL_STREAM_PERSISTENT, ACL_STREAM_CPU_SCHEDULE, ACL_STREAM_DEVICE_USE_ONLY};

static void check(int code, const char *what) {
    if (code != 0) {
        printf("%s: %d\n", what, code);
        exit(1);
    }
}

static aclrtStream configured(uint64_t flag) {
    aclrtStream stream;
    aclrtStreamConfigHandle *configuration = aclrtCreateStreamConfigHandle();
    check(aclrtSetStreamConfigOpt(configuration, ACL_RT_STREAM_FLAG, &flag, sizeof flag), "flag");
    check(aclrtCreateStreamV2(&stream, configuration), "stream");
    check(aclrtDestroyStreamConfigHandle(configuration), "configuration");
    return stream;
}

int main(void) {
    static char plain[BYTES];
    aclrtStream streams[2 * FLAGS], ordinary;
    char *memory, *other, *pinned;
    check(aclInit(NULL), "init");
    check(aclrtSetDevice(0), "device");
    check(aclrtMalloc((void **)&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), "memory");
    check(aclrtMalloc((void **)&other, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), "memory");
    check(aclrtMallocHost((void **)&pinned, BYTES), "pinned memory");
    for (int i = 0; i < FLAGS; i++) {
        check(aclrtCreateStreamWithConfig(&streams[2 * i], 0, flags[i]), "stream");
        streams[2 * i + 1] = configured(flags[i]);
    }
    for (int i = 0; i < 2 * FLAGS; i++) check(aclrtMemsetAsync(other, BYTES, i, BYTES, streams[i]), "memset");
    ordinary = configured(ACL_STREAM_FAST_LAUNCH);
    memset(plain, 7, BYTES);
    check(aclrtMemcpyAsync(memory, BYTES, plain, BYTES, ACL_MEMCPY_DEFAULT, ordinary), "to the device");
    check(aclrtMemcpyAsync(pinned, BYTES, memory, BYTES, ACL_MEMCPY_DEFAULT, ordinary), "to pinned memory");
    check(aclrtSynchronizeStream(ordinary), "wait");
    printf("%d\n", pinned[BYTES - 1]);
    check(aclrtMemcpyAsync(plain, BYTES, memory, BYTES, ACL_MEMCPY_DEFAULT, ordinary), "from the device");
    for (int i = 0; i < 2 * FLAGS; i++) check(aclrtDestroyStream(streams[i]), "destroy");
    check(aclrtDestroyStream(ordinary), "destroy");
    check(aclrtResetDevice(0), "reset");
    check(aclFinalize(), "finalize");
    return 0;
}
