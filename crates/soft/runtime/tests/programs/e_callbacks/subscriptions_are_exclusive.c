/* A stream has one thread, a thread streams of one device, and both can be taken back. */
#include "../check.h"
#include <pthread.h>

int main(void)
{
    aclrtStream first, second, elsewhere;
    aclrtContext zero;
    uint64_t own = (uint64_t)pthread_self();
    start();
    OK(aclrtGetCurrentContext(&zero));
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    EXPECT(aclrtProcessReport(10), ACL_ERROR_RT_THREAD_SUBSCRIBE);
    OK(aclrtSubscribeReport(own, first));
    EXPECT(aclrtSubscribeReport(own, first), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    EXPECT(aclrtSubscribeReport(own + 1, first), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    OK(aclrtSubscribeReport(own, second));
    OK(aclrtSetDevice(1));
    OK(aclrtCreateStream(&elsewhere));
    EXPECT(aclrtSubscribeReport(own, elsewhere), ACL_ERROR_RT_THREAD_SUBSCRIBE);
    OK(aclrtSetCurrentContext(zero));
    EXPECT(aclrtProcessReport(0), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtProcessReport(-2), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtProcessReport(20), ACL_ERROR_RT_REPORT_TIMEOUT);
    EXPECT(aclrtUnSubscribeReport(own + 1, first), ACL_ERROR_RT_THREAD_SUBSCRIBE);
    OK(aclrtUnSubscribeReport(own, first));
    EXPECT(aclrtUnSubscribeReport(own, first), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    OK(aclrtUnSubscribeReport(own, second));
    EXPECT(aclrtProcessReport(10), ACL_ERROR_RT_THREAD_SUBSCRIBE);
    return finish();
}
