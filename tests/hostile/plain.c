/* After: surroundings in which an ordinary program is not traced, or not started: other preloaded
 * libraries, sanitizers. Memory, threads, files and a few calls of AscendCL, all of them right. */
#include <acl/acl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long made;

static void check(aclError code)
{
    __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
    if (code != ACL_SUCCESS) {
        printf("a call failed: %d\n", (int)code);
        exit(1);
    }
}

static void *work(void *unused)
{
    aclrtStream stream;
    void *memory;

    check(aclrtSetDevice(0));
    check(aclrtCreateStream(&stream));
    check(aclrtMalloc(&memory, 1 << 16, ACL_MEM_MALLOC_NORMAL_ONLY));
    for (int i = 0; i < 20; i++) {
        check(aclrtMemsetAsync(memory, 1 << 16, i, 1 << 16, stream));
    }
    check(aclrtSynchronizeStream(stream));
    check(aclrtFree(memory));
    check(aclrtDestroyStream(stream));
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    char *text = malloc(100);
    int file = open("/dev/null", O_WRONLY);

    check(aclInit(NULL));
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    work(NULL);
    check(aclFinalize());
    strcpy(text, "written");
    printf("%s %d\n", text, write(file, text, strlen(text)) == 7 && fsync(file) <= 0);
    printf("malloc is there: %d\n", dlsym(RTLD_DEFAULT, "malloc") != NULL);
    free(text);
    close(file);
    printf("made %ld\n", made);
    return 0;
}
