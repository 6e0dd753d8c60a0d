/* Fills that wait in the queue before the first one runs. Words: the rounds, the fills of each size in a round, whether sizes
 * alternate (1) or not (0), and the sizes in bytes. */
#include <stdatomic.h>

#include "program.h"

enum { MOST = 8 };

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
    int rounds = atoi(words[1]), each = atoi(words[2]), alternate = atoi(words[3]);
    int sizes = count - 4 < MOST ? count - 4 : MOST;
    size_t bytes[MOST], most = 1;
    aclrtStream stream;
    void *memory;

    for (int i = 0; i < sizes; i++) {
        bytes[i] = (size_t)atol(words[4 + i]);
        most = bytes[i] > most ? bytes[i] : most;
    }
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc(&memory, most, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtCreateStream(&stream));
    for (int round = 0; round < rounds; round++) {
        is_submitted = 0;
        DO(aclrtLaunchHostFunc(stream, hold, NULL));
        for (int i = 0; i < each * sizes; i++) {
            size_t size = bytes[alternate ? i % sizes : i / each];
            DO(aclrtMemsetAsync(memory, size, round & 0x7f, size, stream));
        }
        is_submitted = 1;
        DO(aclrtSynchronizeStream(stream));
    }
    DO(aclrtDestroyStream(stream));
    DO(aclrtFree(memory));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    printf("%d fills\n", rounds * each * sizes);
    return 0;
}
