/* Threads that submit to one stream at the same time, without a lock of the program's. */
#include "program.h"

enum { THREADS = 4, ROUNDS = 200, BYTES = 4096 };

static aclrtStream stream;
static void *buffer;

static void *work(void *unused)
{
    (void)unused;
    DO(aclrtSetDevice(0));
    for (int i = 0; i < ROUNDS; i++) {
        DO(aclrtMemsetAsync(buffer, BYTES, i, BYTES, stream));
        if (i % 16 == 0) {
            DO(aclrtSynchronizeStream(stream));
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < THREADS; i++) {
        require(pthread_create(&threads[i], NULL, work, NULL) == 0, "a thread starts");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    DO(aclrtSynchronizeStream(stream));
    printf("%d tasks\n", THREADS * ROUNDS);
    return 0;
}
