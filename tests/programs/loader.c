/* A loader without calls of AscendCL prepares items, and keeps a few of them ahead of the main thread, which copies each to the device.
 * With the word "process" it is a child process, else a thread. The program prints how long the loader used a processor. */
#define _GNU_SOURCE
#include <acl/acl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ITEMS 300
#define AHEAD 4

static int items[2], room[2];
static long long loaded;

static long long used(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void *load(void *unused) {
    (void)unused;
    prctl(PR_SET_NAME, "loader");
    char token = 0;
    for (int item = 0; item < ITEMS; item++) {
        long long end = used() + 2000000;
        while (used() < end) {
        }
        if (read(room[0], &token, 1) != 1 || write(items[1], &token, 1) != 1)
            return NULL;
    }
    loaded = used();
    return NULL;
}

int main(int count, char **words) {
    int is_process = count > 1 && strcmp(words[1], "process") == 0;
    char token = 0;
    if (pipe(items) != 0 || pipe(room) != 0 || write(room[1], "1234", AHEAD) != AHEAD)
        return 1;
    pthread_t thread;
    pid_t child = 0;
    if (is_process) {
        child = fork();
        if (child == 0) {
            load(NULL);
            _exit(0);
        }
    }
    aclInit(NULL);
    aclrtSetDevice(0);
    aclrtStream stream;
    aclrtCreateStream(&stream);
    void *from, *to;
    aclrtMallocHost(&from, 4096);
    aclrtMalloc(&to, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
    if (!is_process)
        pthread_create(&thread, NULL, load, NULL);
    for (int item = 0; item < ITEMS; item++) {
        if (read(items[0], &token, 1) != 1 || write(room[1], &token, 1) != 1)
            return 1;
        aclrtMemcpyAsync(to, 4096, from, 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream);
        aclrtSynchronizeStream(stream);
    }
    if (is_process) {
        struct rusage usage;
        wait4(child, NULL, 0, &usage);
        loaded = usage.ru_utime.tv_sec * 1000000000LL + usage.ru_utime.tv_usec * 1000LL;
        loaded += usage.ru_stime.tv_sec * 1000000000LL + usage.ru_stime.tv_usec * 1000LL;
    } else {
        pthread_join(thread, NULL);
    }
    printf("%lld\n", loaded);
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
    return 0;
}
