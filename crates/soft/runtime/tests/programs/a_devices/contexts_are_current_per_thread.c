/* Each thread has its own current context; threads that set one device share its default context. */
#include "../check.h"
#include <pthread.h>

static void *look(void *expected)
{
    aclrtContext context = NULL;
    EXPECT(aclrtGetCurrentContext(&context), ACL_ERROR_RT_CONTEXT_NULL);
    OK(aclrtSetDevice(0));
    OK(aclrtGetCurrentContext(&context));
    TRUE(context == *(aclrtContext *)expected);
    OK(aclrtResetDevice(0));
    return NULL;
}

int main(void)
{
    aclrtContext own = NULL, second = NULL, now = NULL;
    pthread_t thread;
    start();
    OK(aclrtGetCurrentContext(&own));
    pthread_create(&thread, NULL, look, &own);
    pthread_join(thread, NULL);
    OK(aclrtCreateContext(&second, 1));
    OK(aclrtGetCurrentContext(&now));
    TRUE(now == second && now != own);
    int32_t device = -1;
    OK(aclrtGetDevice(&device));
    EXPECT(device, 1);
    OK(aclrtSetCurrentContext(own));
    OK(aclrtGetDevice(&device));
    EXPECT(device, 0);
    OK(aclrtSetCurrentContext(second));
    EXPECT(aclrtDestroyContext(own), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtDestroyContext(NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtSetCurrentContext(NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclrtDestroyContext(second));
    EXPECT(aclrtGetCurrentContext(&now), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtDestroyContext(second), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtSetCurrentContext(second), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtSetCurrentContext(&device), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtDestroyContext(&device), ACL_ERROR_RT_CONTEXT_NULL);
    OK(aclrtSetCurrentContext(own));
    return finish();
}
