/* Threads of the program may take over the host functions of streams; in strict mode the device
   does not know that, and runs them in its own thread. */
#include "../check.h"
#include <pthread.h>

struct server {
    aclrtStream stream;
    pthread_t thread;
    pthread_t ran_in;
    int subscribed, stop, timeouts;
};

static void note(void *data)
{
    ((struct server *)data)->ran_in = pthread_self();
}

static void *serve(void *data)
{
    struct server *server = data;
    server->thread = pthread_self();
    __atomic_store_n(&server->subscribed, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&server->stop, __ATOMIC_SEQ_CST)) {
        server->timeouts += aclrtProcessHostFunc(20) == ACL_ERROR_RT_REPORT_TIMEOUT;
    }
    return NULL;
}

int main(void)
{
    int code = strict() ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT : ACL_SUCCESS;
    struct server server = {0};
    pthread_t thread;
    start();
    OK(aclrtCreateStream(&server.stream));
    EXPECT(aclrtProcessHostFunc(20),
           strict() ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT : ACL_ERROR_RT_THREAD_SUBSCRIBE);
    EXPECT(pthread_create(&thread, NULL, serve, &server), 0);
    while (!__atomic_load_n(&server.subscribed, __ATOMIC_SEQ_CST)) {
        sleep_ms(1);
    }
    EXPECT(aclrtSubscribeHostFunc((uint64_t)thread, server.stream), code);
    EXPECT(aclrtSubscribeHostFunc((uint64_t)thread, server.stream),
           strict() ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT : ACL_ERROR_RT_STREAM_SUBSCRIBE);
    OK(aclrtLaunchHostFunc(server.stream, note, &server));
    OK(aclrtSynchronizeStream(server.stream));
    EXPECT(pthread_equal(server.ran_in, thread) != 0, !strict());
    TRUE(!pthread_equal(server.ran_in, pthread_self()));
    EXPECT(aclrtUnSubscribeHostFunc((uint64_t)thread, server.stream), code);
    OK(aclrtLaunchHostFunc(server.stream, note, &server));
    OK(aclrtSynchronizeStream(server.stream));
    TRUE(!pthread_equal(server.ran_in, thread));
    __atomic_store_n(&server.stop, 1, __ATOMIC_SEQ_CST);
    EXPECT(pthread_join(thread, NULL), 0);
    EXPECT(aclrtProcessHostFunc(0),
           strict() ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT : ACL_ERROR_INVALID_PARAM);
    return finish();
}
