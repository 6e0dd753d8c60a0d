// A sandbox in which no thread can be started: calls that need one answer with an error instead of waiting for what
// never comes.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "acl/acl.h"

static void callback(void *data) { (void)data; }

int main(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        puts("no filters here");
        return 77;
    }
    aclrtStream stream;
    void *memory;
    printf("init %d\n", aclInit(NULL));
    printf("device %d\n", aclrtSetDevice(0));
    printf("stream %d\n", aclrtCreateStream(&stream));
    printf("malloc %d\n", aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    printf("memset %d\n", aclrtMemsetAsync(memory, 64, 0, 64, stream));
    printf("function %d\n", aclrtLaunchHostFunc(stream, callback, NULL));
    printf("synchronise %d\n", aclrtSynchronizeStream(stream));
    printf("destroy %d\n", aclrtDestroyStream(stream));
    printf("reset %d\n", aclrtResetDevice(0));
    printf("finalize %d\n", aclFinalize());
    puts("made 10");
    return 0;
}
