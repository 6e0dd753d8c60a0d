/* Destroying a pending event returns at once; the work it stands for goes on. */
#include "../check.h"

int main(void)
{
    aclrtEvent event;
    aclrtStream first, second;
    aclrtStreamStatus state;
    struct gate gate = {0, 0};
    start();
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtCreateEvent(&event));
    OK(aclrtLaunchHostFunc(first, wait_at_gate, &gate));
    OK(aclrtRecordEvent(event, first));
    OK(aclrtStreamWaitEvent(second, event));
    OK(aclrtDestroyEvent(event));
    EXPECT(aclrtDestroyEvent(event), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT(aclrtRecordEvent(event, first), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT(aclrtDestroyEvent(NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclrtStreamQuery(second, &state));
    EXPECT(state, ACL_STREAM_STATUS_NOT_READY);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(second));
    OK(aclrtSynchronizeStream(first));
    return finish();
}
