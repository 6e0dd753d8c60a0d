/* Host functions of a context run on one helper thread and hold their stream. */
#include "../check.h"
#include <pthread.h>

static pthread_t threads[4];

static void note(void *slot)
{
    *(pthread_t *)slot = pthread_self();
}

int main(void)
{
    aclrtStream first, second;
    int calls = 0;
    start();
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtLaunchHostFunc(first, note, &threads[0]));
    OK(aclrtLaunchHostFunc(second, note, &threads[1]));
    OK(aclrtLaunchHostFunc(NULL, note, &threads[2]));
    OK(aclrtSynchronizeDevice());
    TRUE(pthread_equal(threads[0], threads[1]) && pthread_equal(threads[1], threads[2]));
    TRUE(!pthread_equal(threads[0], pthread_self()) && threads[0] != 0);
    aclrtContext context;
    OK(aclrtCreateContext(&context, 0));
    OK(aclrtLaunchHostFunc(NULL, note, &threads[3]));
    OK(aclrtSynchronizeDevice());
    TRUE(!pthread_equal(threads[0], threads[3]) && threads[3] != 0);
    EXPECT(aclrtLaunchHostFunc(NULL, NULL, &calls), ACL_ERROR_RT_PARAM_INVALID);
    return finish();
}
