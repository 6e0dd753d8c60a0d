// A program that is built with one sanitizer after another: makes calls, starts threads, allocates and frees, asks
// the loader, and starts itself once more as a child.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl.h"

static void *work(void *stream) {
    char *host = malloc(4096);
    void *device = NULL;
    aclrtSetDevice(0);
    aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemsetAsync(device, 4096, 7, 4096, stream);
    aclrtSynchronizeStream(stream);
    aclrtMemcpy(host, 4096, device, 4096, ACL_MEMCPY_DEVICE_TO_HOST);
    if (host[4095] != 7) exit(4);
    aclrtFree(device);
    free(host);
    return NULL;
}

int main(int argc, char **argv) {
    const char *is_child = argc > 1 ? argv[1] : "";
    aclrtStream stream;
    aclInit(NULL);
    aclrtSetDevice(0);
    aclrtCreateStream(&stream);
    for (int round = 0; round < 2; round++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, stream);
        pthread_join(thread, NULL);
    }
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
    if (dlsym(RTLD_DEFAULT, "no such function") != NULL) return 5;
    if (strcmp(is_child, "child") == 0) return 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        execl(argv[0], argv[0], "child", (char *)NULL);
        _exit(127);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    // 3 and 3 of main, 6 of each thread, twice, in two processes.
    printf("made %d\n", 2 * (3 + 3 + 2 * 6));
    return 0;
}
