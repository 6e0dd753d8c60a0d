/* Callbacks run in a thread of the program's own, between the tasks of a stream. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

#include "count.h"

enum { CALLBACKS = 4, BYTES = 256 << 10 };

static sem_t subscribed;
static sem_t handled;
static int sum;

static void on_data(void *argument)
{
    sum += *(int *)argument;
    sem_post(&handled);
}

/* Each round handles the one callback that is outstanding. */
static void *handle_callbacks(void *unused)
{
    (void)unused;
    sem_wait(&subscribed);
    for (int i = 0; i < CALLBACKS; i++) {
        CALL(aclrtProcessReport(-1));
    }
    return NULL;
}

int main(void)
{
    aclrtStream stream;
    pthread_t thread;
    int values[CALLBACKS] = {1, 10, 100, 1000};
    void *device;

    sem_init(&subscribed, 0, 0);
    sem_init(&handled, 0, 0);
    CALL(aclInit(NULL));
    CALL(aclrtSetDevice(0));
    CALL(aclrtCreateStream(&stream));
    CALL(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    pthread_create(&thread, NULL, handle_callbacks, NULL);
    CALL(aclrtSubscribeReport((uint64_t)thread, stream));
    sem_post(&subscribed);

    for (int i = 0; i < CALLBACKS; i++) {
        aclrtCallbackBlockType type = i % 2 ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK;
        TASK(aclrtMemsetAsync(device, BYTES, i, BYTES, stream));
        TASK(aclrtLaunchCallback(on_data, &values[i], type, stream));
        TASK(aclrtMemsetAsync(device, BYTES, i, BYTES, stream));
        sem_wait(&handled);
    }
    CALL(aclrtSynchronizeStream(stream));
    pthread_join(thread, NULL);
    printf("the callbacks added up to %d\n", sum);

    CALL(aclrtUnSubscribeReport((uint64_t)thread, stream));
    CALL(aclrtFree(device));
    CALL(aclrtDestroyStream(stream));
    CALL(aclrtResetDevice(0));
    CALL(aclFinalize());
    return report_counts();
}
