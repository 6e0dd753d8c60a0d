/* A record with a time needs one of 512 places of its stream, and spins in the caller until one is free.
   SOFTACL: chip=910a */
#include "../check.h"
#include <pthread.h>

enum { PLACES = 512, MORE = 40 };

static aclrtContext context;
static aclrtEvent events[PLACES + MORE];
static int recorded;

static void *record(void *stream)
{
    OK(aclrtSetCurrentContext(context));
    for (int i = 0; i < PLACES + MORE; i++) {
        OK(aclrtRecordEvent(events[i], stream));
        __atomic_add_fetch(&recorded, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

int main(void)
{
    aclrtStream stream;
    pthread_t thread;
    struct gate gate = {0, 0};
    float ms;
    start();
    EXPECT(strcmp(aclrtGetSocName(), "Ascend910A"), 0);
    OK(aclrtCreateStream(&stream));
    OK(aclrtGetCurrentContext(&context));
    for (int i = 0; i < PLACES + MORE; i++) {
        OK(aclrtCreateEventExWithFlag(&events[i], ACL_EVENT_TIME_LINE));
    }
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    pthread_create(&thread, NULL, record, stream);
    for (int i = 0; i < 5000 && __atomic_load_n(&recorded, __ATOMIC_SEQ_CST) < PLACES; i++) {
        sleep_ms(1);
    }
    sleep_ms(30);
    EXPECT(__atomic_load_n(&recorded, __ATOMIC_SEQ_CST), PLACES);
    open_gate(&gate);
    pthread_join(thread, NULL);
    EXPECT(recorded, PLACES + MORE);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtEventElapsedTime(&ms, events[0], events[PLACES + MORE - 1]));
    return finish();
}
