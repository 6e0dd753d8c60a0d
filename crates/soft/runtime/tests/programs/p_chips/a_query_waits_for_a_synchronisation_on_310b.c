/* A query that has to look takes the lock that a synchronisation of the stream holds as long as it lasts.
   SOFTACL: chip=310b */
#include "../check.h"
#include <pthread.h>

static aclrtContext context;
static aclrtEvent event;
static int waiting, asked;
/* What the threads were told; the checks are the main thread's. */
static aclError said[6];
static aclrtEventRecordedStatus status;

static void *synchronise(void *stream)
{
    said[0] = aclrtSetCurrentContext(context);
    __atomic_store_n(&waiting, 1, __ATOMIC_SEQ_CST);
    said[1] = aclrtSynchronizeStream(stream);
    return NULL;
}

static void *ask(void *unused)
{
    (void)unused;
    said[2] = aclrtSetCurrentContext(context);
    said[3] = aclrtQueryEventStatus(event, &status);
    __atomic_store_n(&asked, 1, __ATOMIC_SEQ_CST);
    said[4] = aclrtQueryEventStatus(event, &status);
    return NULL;
}

int main(void)
{
    aclrtStream stream;
    pthread_t first, second;
    struct gate gate = {0, 0};
    start();
    EXPECT(strncmp(aclrtGetSocName(), "Ascend310B", 10), 0);
    OK(aclrtCreateStream(&stream));
    OK(aclrtGetCurrentContext(&context));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_TIME_LINE));
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    while (!__atomic_load_n(&gate.entered, __ATOMIC_SEQ_CST)) {
        sleep_ms(1);
    }
    pthread_create(&first, NULL, synchronise, stream);
    while (!__atomic_load_n(&waiting, __ATOMIC_SEQ_CST)) {
        sleep_ms(1);
    }
    sleep_ms(100);
    pthread_create(&second, NULL, ask, NULL);
    sleep_ms(50);
    EXPECT(__atomic_load_n(&asked, __ATOMIC_SEQ_CST), 0);
    open_gate(&gate);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    EXPECT(asked, 1);
    EXPECT(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    for (int i = 0; i < 5; i++) {
        OK(said[i]);
    }
    return finish();
}
