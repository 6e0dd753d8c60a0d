/* SynchronizeDevice waits for all streams of the current context and for no other. */
#include "../check.h"

int main(void)
{
    aclrtContext first, second;
    aclrtStream stream;
    struct gate inside = {0, 0}, outside = {0, 0};
    start();
    OK(aclrtGetCurrentContext(&first));
    OK(aclrtCreateContext(&second, 0));
    OK(aclrtLaunchHostFunc(NULL, wait_at_gate, &outside));
    OK(aclrtSetCurrentContext(first));
    OK(aclrtSynchronizeDevice());
    OK(aclrtCreateStream(&stream));
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &inside));
    EXPECT(aclrtSynchronizeDeviceWithTimeout(20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT(aclrtSynchronizeDeviceWithTimeout(0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtSynchronizeDeviceWithTimeout(-2), ACL_ERROR_RT_PARAM_INVALID);
    open_gate(&inside);
    OK(aclrtSynchronizeDeviceWithTimeout(-1));
    EXPECT(inside.entered, 1);
    open_gate(&outside);
    OK(aclrtDestroyContext(second));
    EXPECT(outside.entered, 1);
    return finish();
}
