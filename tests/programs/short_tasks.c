/* Kernels of two microseconds that all wait in the queue before the first one runs. Words: `killed`, to end without a
 * chance to do anything more; `configured`, and the file for aclInit. */
#include <signal.h>
#include <stdatomic.h>

#include "kernels.h"

enum { TASKS = 400, BYTES = 64, ELEMENTS = 4 };

static atomic_int is_submitted;

static void hold(void *unused)
{
    (void)unused;
    while (!is_submitted) {
        usleep(100);
    }
}

int main(int count, char **words)
{
    aclrtStream stream;
    void *memory;

    DO(aclInit(count > 2 && strcmp(words[1], "configured") == 0 ? words[2] : NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtCreateStream(&stream));
    aclOpExecutor *kernel = kernel_of(memory, ELEMENTS);
    DO(aclrtLaunchHostFunc(stream, hold, NULL));
    for (int i = 0; i < TASKS; i++) {
        launch(kernel, stream);
    }
    is_submitted = 1;
    DO(aclrtSynchronizeStream(stream));
    printf("%d tasks\n", TASKS);
    if (count > 1 && strcmp(words[1], "killed") == 0) {
        fflush(stdout);
        sleep(1);
        kill(getpid(), SIGKILL);
    }
    return 0;
}
