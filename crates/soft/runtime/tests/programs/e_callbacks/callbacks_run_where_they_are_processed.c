/* A callback runs inside ProcessReport, without a context; later tasks of a blocking one come after it. */
#include "../check.h"
#include <pthread.h>

static int *pinned, stop, seen_context = -1;

static void overwrite(void *value)
{
    aclrtContext context;
    seen_context = aclrtGetCurrentContext(&context);
    *pinned = (int)(intptr_t)value;
}

static void *serve(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) {
        aclrtProcessReport(20);
    }
    return unused;
}

int main(void)
{
    aclrtStream stream;
    pthread_t thread;
    int *device;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMallocHost((void **)&pinned, sizeof *pinned));
    OK(aclrtMalloc((void **)&device, sizeof *device, ACL_MEM_MALLOC_HUGE_FIRST));
    *pinned = 1;
    pthread_create(&thread, NULL, serve, NULL);
    OK(aclrtSubscribeReport((uint64_t)thread, stream));
    OK(aclrtMemcpyAsync(device, 4, pinned, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtLaunchCallback(overwrite, (void *)5, ACL_CALLBACK_BLOCK, stream));
    OK(aclrtMemcpyAsync(device, 4, pinned, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtLaunchCallback(overwrite, (void *)9, ACL_CALLBACK_BLOCK, stream));
    OK(aclrtMemcpyAsync(pinned, 4, device, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(*pinned, 5);
    EXPECT(seen_context, ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtLaunchCallback(NULL, NULL, ACL_CALLBACK_BLOCK, stream), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtLaunchCallback(overwrite, NULL, (aclrtCallbackBlockType)3, stream),
           ACL_ERROR_INVALID_PARAM);
    __atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    OK(aclrtUnSubscribeReport((uint64_t)thread, stream));
    return finish();
}
