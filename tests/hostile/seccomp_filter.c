/* The program forbids system calls that it never makes itself, under pain of death: those that name threads,
 * sleep, yield, or look at memory. It goes on with old and new threads that contend for one stream.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "counted.h"

enum { THREADS = 4, ROUNDS = 200, BYTES = 256 };

static aclrtStream stream;
static void *buffer;

static void forbid(int by_prctl)
{
    static const int forbidden[] = {
        SYS_gettid, SYS_sched_yield, SYS_nanosleep, SYS_clock_nanosleep, SYS_sigaltstack,
        SYS_process_vm_readv, SYS_readlinkat, SYS_getppid, SYS_prctl, SYS_tgkill,
    };
    enum { COUNT_OF = sizeof(forbidden) / sizeof(forbidden[0]) };
    struct sock_filter code[2 * COUNT_OF + 2];
    struct sock_fprog program = {.len = 2 * COUNT_OF + 2, .filter = code};
    int at = 0;

    code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                              offsetof(struct seccomp_data, nr));
    for (int i = 0; i < COUNT_OF; i++) {
        code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, forbidden[i], 0, 1);
        code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    }
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
    if (by_prctl) {
        require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "a filter");
    } else {
        require(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0, "a filter");
    }
}

static void submit(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        COUNT(aclrtMemsetAsync(buffer, BYTES, i, BYTES, stream));
    }
}

static void *submits(void *unused)
{
    (void)unused;
    COUNT(aclrtSetDevice(0));
    submit();
    return NULL;
}

int main(int count, char **words)
{
    pthread_t threads[THREADS];

    COUNT(aclInit(NULL));
    COUNT(aclrtSetDevice(0));
    COUNT(aclrtCreateStream(&stream));
    COUNT(aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    submit();
    COUNT(aclrtSynchronizeStream(stream));
    forbid(count > 1 && strcmp(words[1], "prctl") == 0);
    submit();
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, submits, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    COUNT(aclrtSynchronizeStream(stream));
    COUNT(aclrtFree(buffer));
    tell_counts();
    return 0;
}
