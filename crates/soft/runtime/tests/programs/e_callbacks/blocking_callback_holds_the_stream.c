/* A blocking callback runs in the subscribed thread and holds the stream; the other kind does not. */
#include "../check.h"
#include <pthread.h>

static int stop;
static pthread_t server;
static int in_server;

static void note_thread(void *data)
{
    in_server = pthread_equal(pthread_self(), server);
    count_call(data);
}

static void *serve(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) {
        aclrtProcessReport(50);
    }
    return unused;
}

int main(void)
{
    aclrtStream stream;
    struct gate gate = {0, 0};
    int calls = 0;
    aclrtStreamStatus state;
    start();
    OK(aclrtCreateStream(&stream));
    EXPECT(aclrtLaunchCallback(count_call, &calls, ACL_CALLBACK_BLOCK, stream),
           ACL_ERROR_RT_STREAM_NO_CB_REG);
    pthread_create(&server, NULL, serve, NULL);
    OK(aclrtSubscribeReport((uint64_t)server, stream));
    OK(aclrtLaunchCallback(note_thread, &calls, ACL_CALLBACK_BLOCK, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(calls, 1);
    EXPECT(in_server, 1);
    OK(aclrtLaunchCallback(wait_at_gate, &gate, ACL_CALLBACK_BLOCK, stream));
    sleep_ms(20);
    OK(aclrtStreamQuery(stream, &state));
    EXPECT(state, ACL_STREAM_STATUS_NOT_READY);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(stream));
    gate.open = gate.entered = 0;
    OK(aclrtLaunchCallback(wait_at_gate, &gate, ACL_CALLBACK_NO_BLOCK, stream));
    OK(aclrtSynchronizeStream(stream));
    open_gate(&gate);
    OK(aclrtUnSubscribeReport((uint64_t)server, stream));
    EXPECT(aclrtLaunchCallback(count_call, &calls, ACL_CALLBACK_BLOCK, stream),
           ACL_ERROR_RT_STREAM_NO_CB_REG);
    __atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
    pthread_join(server, NULL);
    return finish();
}
