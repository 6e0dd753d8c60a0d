/* Aborting a stream drops its tasks and tells who waits; the stream can be used again. */
#include "../check.h"
#include <pthread.h>

static int result = -1;

static void *synchronise(void *stream)
{
    result = aclrtSynchronizeStream(stream);
    return NULL;
}

int main(void)
{
    aclrtStream stream;
    pthread_t thread;
    struct gate gate = {0, 0};
    int calls = 0;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    for (int i = 0; i < 5; i++) {
        OK(aclrtLaunchHostFunc(stream, count_call, &calls));
    }
    pthread_create(&thread, NULL, synchronise, stream);
    for (int i = 0; i < 1000 && !__atomic_load_n(&gate.entered, __ATOMIC_SEQ_CST); i++) {
        sleep_ms(1);
    }
    sleep_ms(50);
    OK(aclrtStreamAbort(stream));
    pthread_join(thread, NULL);
    EXPECT(result, ACL_ERROR_RT_STREAM_ABORT);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(stream));
    sleep_ms(20);
    EXPECT(calls, 0);
    OK(aclrtLaunchHostFunc(stream, count_call, &calls));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(calls, 1);
    EXPECT(aclrtStreamAbort(NULL), ACL_ERROR_RT_PARAM_INVALID);
    return finish();
}
