/* One thread per device, each with a context of its own; then one thread that switches. */
#include <pthread.h>

#include "count.h"

enum { DEVICES = 2, BYTES = 1 << 20, ROUNDS = 3 };

static void work(aclrtStream stream, void *buffer, int value)
{
    TASK(aclrtMemsetAsync(buffer, BYTES, value, BYTES, stream));
    TASK(aclrtMemsetAsync(buffer, BYTES, value + 1, BYTES / 2, stream));
    CALL(aclrtSynchronizeStream(stream));
}

static void *use_device(void *argument)
{
    int device = *(int *)argument;
    aclrtContext context;
    aclrtStream stream;
    void *buffer;

    CALL(aclrtSetDevice(device));
    CALL(aclrtCreateContext(&context, device));
    CALL(aclrtCreateStream(&stream));
    CALL(aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int round = 0; round < ROUNDS; round++) {
        work(stream, buffer, round);
    }
    CALL(aclrtFree(buffer));
    CALL(aclrtDestroyStream(stream));
    CALL(aclrtDestroyContext(context));
    CALL(aclrtResetDevice(device));
    return NULL;
}

int main(void)
{
    pthread_t threads[DEVICES];
    int numbers[DEVICES];
    aclrtContext contexts[DEVICES];
    aclrtStream streams[DEVICES];
    void *buffers[DEVICES];

    CALL(aclInit(NULL));
    for (int i = 0; i < DEVICES; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, use_device, &numbers[i]);
    }
    for (int i = 0; i < DEVICES; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%d devices worked at the same time\n", DEVICES);

    for (int i = 0; i < DEVICES; i++) {
        CALL(aclrtSetDevice(i));
        CALL(aclrtCreateContext(&contexts[i], i));
        CALL(aclrtCreateStream(&streams[i]));
        CALL(aclrtMalloc(&buffers[i], BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    /* Switching the context also switches the device, and is cheaper than setting it. */
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < DEVICES; i++) {
            CALL(aclrtSetCurrentContext(contexts[i]));
            work(streams[i], buffers[i], round);
        }
    }
    for (int i = 0; i < DEVICES; i++) {
        CALL(aclrtSetCurrentContext(contexts[i]));
        CALL(aclrtFree(buffers[i]));
        CALL(aclrtDestroyStream(streams[i]));
        CALL(aclrtDestroyContext(contexts[i]));
        CALL(aclrtResetDevice(i));
    }
    CALL(aclFinalize());
    printf("one thread served %d devices\n", DEVICES);
    return report_counts();
}
