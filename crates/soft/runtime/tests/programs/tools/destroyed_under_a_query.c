/* Destroys a stream while another thread asks about an event on it. */
#include "../check.h"
#include <pthread.h>

static aclrtContext context;
static aclrtEvent event;

static void *ask(void *unused)
{
    (void)unused;
    aclrtEventRecordedStatus status;
    OK(aclrtSetCurrentContext(context));
    for (int i = 0; i < 20; i++) {
        OK(aclrtQueryEventStatus(event, &status));
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
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_TIME_LINE));
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    OK(aclrtRecordEvent(event, stream));
    pthread_create(&thread, NULL, ask, NULL);
    /* Any of the queries will do: each of them lasts far longer than this. */
    sleep_ms(100);
    OK(aclrtDestroyStreamForce(stream));
    pthread_join(thread, NULL);
    open_gate(&gate);
    return finish();
}
