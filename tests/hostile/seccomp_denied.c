/* The program forbids a system call: words are its name, `alone`, `full` or `threads`, and what the kernel does about it
 * (`eperm`, `enosys`, `trap`, `kill`). Then it works on: alone, alone with more tasks than fit in the stream, or with new
 * threads that wait for each other.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "counted.h"

enum { THREADS = 3, ROUNDS = 50, FULL = 400, BYTES = 256 };

static aclrtStream stream;
static void *buffer;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int number_of(const char *name)
{
    static const struct {
        const char *name;
        int number;
    } calls[] = {
        {"futex", SYS_futex},       {"sched_yield", SYS_sched_yield}, {"nanosleep", SYS_nanosleep},
        {"mmap", SYS_mmap},         {"munmap", SYS_munmap},           {"clock_nanosleep", SYS_clock_nanosleep},
        {"madvise", SYS_madvise},   {"gettid", SYS_gettid},           {"membarrier", SYS_membarrier},
        {"write", SYS_write},
    };

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (strcmp(calls[i].name, name) == 0) {
            return calls[i].number;
        }
    }
    _exit(97);
}

static unsigned action_of(const char *word)
{
    if (strcmp(word, "eperm") == 0) {
        return SECCOMP_RET_ERRNO | EPERM;
    }
    if (strcmp(word, "enosys") == 0) {
        return SECCOMP_RET_ERRNO | ENOSYS;
    }
    return strcmp(word, "trap") == 0 ? SECCOMP_RET_TRAP : SECCOMP_RET_KILL_PROCESS;
}

static void forbid(int number, unsigned action)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

    require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
    require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "a filter");
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
    pthread_mutex_lock(&mutex);
    submit();
    usleep(20000);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(int unused, char **words)
{
    pthread_t threads[THREADS];

    (void)unused;
    setvbuf(stdout, NULL, _IONBF, 0);
    COUNT(aclInit(NULL));
    COUNT(aclrtSetDevice(0));
    COUNT(aclrtCreateStream(&stream));
    COUNT(aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    submit();
    COUNT(aclrtSynchronizeStream(stream));
    /* The thread of the runtime has time to go to sleep. */
    usleep(20000);
    forbid(number_of(words[1]), action_of(words[3]));
    for (int i = 0; i < (strcmp(words[2], "full") == 0 ? FULL : 1); i++) {
        submit();
    }
    COUNT(aclrtSynchronizeStream(stream));
    if (strcmp(words[2], "threads") == 0) {
        for (int i = 0; i < THREADS; i++) {
            if (pthread_create(&threads[i], NULL, submits, NULL) != 0) {
                return 5;
            }
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
        }
    }
    submit();
    COUNT(aclrtSynchronizeStream(stream));
    COUNT(aclrtFree(buffer));
    tell_counts();
    return 0;
}
