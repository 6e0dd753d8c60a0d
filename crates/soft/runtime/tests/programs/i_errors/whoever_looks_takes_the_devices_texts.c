/* What the device says of a failure goes to the thread that looks first, once: after that the others have
   nothing to read. Queries fail once a context has stopped. */
#include "../check.h"
#include <pthread.h>

static aclrtContext context;
static aclrtEvent event;
static int query_said, other_has_text;

static void *looks(void *unused)
{
    (void)unused;
    aclrtEventRecordedStatus status;
    OK(aclrtSetCurrentContext(context));
    query_said = aclrtQueryEventStatus(event, &status);
    const char *text = aclGetRecentErrMsg();
    other_has_text = text && strstr(text, "failed on the device");
    return NULL;
}

int main(void)
{
    aclrtStream stream, blocked;
    aclrtEvent never;
    pthread_t thread;
    struct gate gate = {0, 0};
    start();
    OK(aclrtGetCurrentContext(&context));
    for (int round = 0; round < 2; round++) {
        if (round) {
            OK(aclrtCreateContext(&context, 0));
        }
        OK(aclrtCreateStream(&stream));
        OK(aclrtCreateStream(&blocked));
        OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
        OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_TIME_LINE));
        OK(aclrtCreateEventExWithFlag(&never, ACL_EVENT_SYNC));
        gate.open = 0;
        OK(aclrtLaunchHostFunc(blocked, wait_at_gate, &gate));
        OK(aclrtRecordEvent(never, blocked));
        OK(aclrtStreamWaitEventWithTimeout(stream, never, 1));
        OK(aclrtRecordEvent(event, stream));
        aclrtStreamStatus done = ACL_STREAM_STATUS_NOT_READY;
        for (int i = 0; i < 5000 && done != ACL_STREAM_STATUS_COMPLETE; i++) {
            OK(aclrtStreamQuery(stream, &done));
            sleep_ms(1);
        }
        if (round) {
            pthread_create(&thread, NULL, looks, NULL);
            pthread_join(thread, NULL);
            EXPECT(query_said, ACL_ERROR_RT_WAIT_TIMEOUT);
            EXPECT(other_has_text, 1);
        }
        EXPECT(aclrtSynchronizeStream(stream), ACL_ERROR_RT_WAIT_TIMEOUT);
        const char *text = aclGetRecentErrMsg();
        TRUE(text != NULL);
        EXPECT(text && strstr(text, "failed on the device"), !round);
        TRUE(aclGetRecentErrMsg() == NULL);
        open_gate(&gate);
        OK(aclrtSynchronizeStream(blocked));
    }
    return finish();
}
