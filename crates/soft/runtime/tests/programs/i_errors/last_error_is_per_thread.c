/* Peek keeps the last error of the thread, Get clears it; other threads do not see it. */
#include "../check.h"
#include <pthread.h>

static int seen = -1;

static void *other(void *unused)
{
    seen = aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
    return unused;
}

int main(void)
{
    pthread_t thread;
    int32_t device;
    start();
    OK(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL));
    EXPECT(aclrtSetDevice(77), ACL_ERROR_RT_INVALID_DEVICEID);
    OK(aclrtGetDevice(&device));
    EXPECT(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    EXPECT(seen, 0);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
    OK(aclrtGetLastError(ACL_RT_THREAD_LEVEL));
    EXPECT(aclrtGetLastError((aclrtLastErrLevel)3), ACL_ERROR_INVALID_PARAM);
    return finish();
}
