/* A stream with a subscribed thread takes host functions, too, but not in strict mode. One that ran host functions
   takes no callbacks. */
#include "../check.h"
#include <pthread.h>

static char order[8];
static int length;

static void note(void *letter)
{
    order[length++] = *(const char *)letter;
}

int main(void)
{
    uint64_t own = (uint64_t)pthread_self();
    int refused = strict() ? ACL_ERROR_RT_STREAM_SUBSCRIBE : ACL_SUCCESS;
    aclrtStream subscribed, used;
    start();
    OK(aclrtCreateStream(&subscribed));
    OK(aclrtCreateStream(&used));
    OK(aclrtSubscribeReport(own, subscribed));
    OK(aclrtLaunchCallback(note, "a", ACL_CALLBACK_BLOCK, subscribed));
    EXPECT(aclrtLaunchHostFunc(subscribed, note, "b"), refused);
    OK(aclrtLaunchCallback(note, "c", ACL_CALLBACK_BLOCK, subscribed));
    OK(aclrtProcessReport(10000));
    OK(aclrtProcessReport(10000));
    OK(aclrtSynchronizeStream(subscribed));
    EXPECT(strcmp(order, strict() ? "ac" : "abc"), 0);
    OK(aclrtUnSubscribeReport(own, subscribed));
    OK(aclrtLaunchHostFunc(subscribed, note, "d"));
    OK(aclrtSynchronizeStream(subscribed));
    EXPECT(length, strict() ? 3 : 4);

    OK(aclrtLaunchHostFunc(used, note, "e"));
    EXPECT(aclrtSubscribeReport(own, used), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    EXPECT(aclrtSubscribeReport(5, used), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    EXPECT(aclrtLaunchCallback(note, "f", ACL_CALLBACK_NO_BLOCK, used), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    OK(aclrtSynchronizeStream(used));
    return finish();
}
