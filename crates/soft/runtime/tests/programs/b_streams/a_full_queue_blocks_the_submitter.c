/* Submitting to a full queue waits for room.
   SOFTACL: queue=8 */
#include "../check.h"
#include <pthread.h>

static aclrtContext context;
static int submitted, calls;

static void *submit(void *stream)
{
    OK(aclrtSetCurrentContext(context));
    for (int i = 0; i < 30; i++) {
        OK(aclrtLaunchHostFunc(stream, count_call, &calls));
        __atomic_add_fetch(&submitted, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

int main(void)
{
    aclrtStream stream;
    pthread_t thread;
    struct gate gate = {0, 0};
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtGetCurrentContext(&context));
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    pthread_create(&thread, NULL, submit, stream);
    for (int i = 0; i < 1000 && __atomic_load_n(&submitted, __ATOMIC_SEQ_CST) < 7; i++) {
        sleep_ms(1);
    }
    sleep_ms(30);
    EXPECT(__atomic_load_n(&submitted, __ATOMIC_SEQ_CST), 7);
    open_gate(&gate);
    pthread_join(thread, NULL);
    OK(aclrtSynchronizeStream(stream));
    EXPECT(submitted, 30);
    EXPECT(calls, 30);
    return finish();
}
