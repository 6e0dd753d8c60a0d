/* Callbacks that nobody processed are dropped with the subscription. */
#include "../check.h"
#include <pthread.h>

int main(void)
{
    aclrtStream stream;
    int calls = 0;
    uint64_t own = (uint64_t)pthread_self();
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtSubscribeReport(own, stream));
    OK(aclrtLaunchCallback(count_call, &calls, ACL_CALLBACK_BLOCK, stream));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 30), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    OK(aclrtUnSubscribeReport(own, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(calls, 0);
    OK(aclrtSubscribeReport(own, stream));
    OK(aclrtLaunchCallback(count_call, &calls, ACL_CALLBACK_NO_BLOCK, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtProcessReport(1000));
    EXPECT(calls, 1);
    EXPECT(aclrtProcessReport(10), ACL_ERROR_RT_REPORT_TIMEOUT);
    return finish();
}
