/* A thread that set no device works on the default one, once somebody below has named it. */
#include "../check.h"
#include <pthread.h>

int rtSetDefaultDeviceId(int32_t id);

static void *work(void *unused)
{
    (void)unused;
    aclrtStream stream;
    aclrtContext context = NULL;
    void *memory;
    int32_t device = -1;
    OK(aclrtGetCurrentContext(&context));
    OK(aclrtCreateStream(&stream));
    OK(aclrtGetDevice(&device));
    EXPECT(device, 1);
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemsetAsync(memory, 64, 7, 64, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(((char *)memory)[63], 7);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    aclrtStream stream;
    OK(aclInit(NULL));
    EXPECT(aclrtCreateStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(rtSetDefaultDeviceId(77), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT(rtSetDefaultDeviceId(1), 0);
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return finish();
}
