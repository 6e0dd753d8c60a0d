/* After: children that hang, because the process forked while another thread was inside the loader on
 * behalf of the tracer, or because the tracer takes a lock in the child that a bare program would not.
 * One thread looks names up, one calls a function of AscendCL through what it has looked up, and, when
 * asked for ("walk"), one keeps the loader's list of objects locked most of the time. Each child looks
 * a name up, asks where a function lies, and calls one of AscendCL for the first time.
 * Words: the number of children, and "walk". */
#define _GNU_SOURCE
#include <acl/acl.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int is_over;
static atomic_int is_ready;

static void *look_up(void *unused)
{
    static const char *const NAMES[] = { "getpid", "malloc", "aclrtMalloc", "no_such_name", "aclrtFree" };
    for (unsigned i = 0; !atomic_load(&is_over); i++) {
        (void)dlsym(RTLD_DEFAULT, NAMES[i % 5]);
        atomic_store(&is_ready, 1);
    }
    return unused;
}

static int dwell(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)info;
    (void)size;
    (void)data;
    for (volatile int i = 0; i < 2000; i++) {
    }
    return 0;
}

static void *walk(void *unused)
{
    while (!atomic_load(&is_over)) {
        dl_iterate_phdr(dwell, NULL);
    }
    return unused;
}

/* 0 when everything is as it is in a program of its own. */
static int in_child(void)
{
    int32_t major, minor, patch;
    Dl_info info;

    if (dlsym(RTLD_DEFAULT, "getppid") == NULL) {
        return 1;
    }
    if (dlsym(RTLD_DEFAULT, "aclrtCreateStream") == NULL) {
        return 2;
    }
    if (dladdr((void *)getpid, &info) == 0 || strstr(info.dli_fname, "libc") == NULL) {
        return 3;
    }
    if (dladdr((void *)aclrtSynchronizeStream, &info) == 0 || strstr(info.dli_fname, "libascendcl") == NULL) {
        return 4;
    }
    return aclrtGetVersion(&major, &minor, &patch) == ACL_SUCCESS ? 0 : 5;
}

int main(int argc, char **argv)
{
    int children = argc > 1 ? atoi(argv[1]) : 50;
    int is_walking = argc > 2 && strcmp(argv[2], "walk") == 0;
    int hung = 0, failed = 0;
    pthread_t threads[3];
    int count = 0;

    pthread_create(&threads[count++], NULL, look_up, NULL);
    pthread_create(&threads[count++], NULL, look_up, NULL);
    if (is_walking) {
        pthread_create(&threads[count++], NULL, walk, NULL);
    }
    while (!atomic_load(&is_ready)) {
    }
    for (int i = 0; i < children; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            /* None of it takes a fraction of this, however busy the machine is. */
            alarm(30);
            _exit(in_child());
        }
        waitpid(child, &status, 0);
        hung += WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
        failed += !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        if (hung > 2) {
            break;
        }
    }
    atomic_store(&is_over, 1);
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("hung %d, failed %d\nmade %d\n", hung, failed, children - failed);
    return failed != 0;
}
