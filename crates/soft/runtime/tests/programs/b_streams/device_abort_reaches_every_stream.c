/* DeviceTaskAbort drops the tasks of all streams of the device, and calls back before and after. */
#include "../check.h"

static int stages[2];

static int32_t aborted(int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void *data)
{
    (void)device, (void)timeout, (void)data;
    stages[stage]++;
    return 0;
}

int main(void)
{
    aclrtStream stream;
    struct gate gate = {0, 0};
    int calls = 0;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtSetDeviceTaskAbortCallback("test", aborted, NULL));
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    OK(aclrtLaunchHostFunc(stream, count_call, &calls));
    OK(aclrtLaunchHostFunc(NULL, wait_at_gate, &gate));
    OK(aclrtDeviceTaskAbort(0, 1000));
    EXPECT(stages[0], 1);
    EXPECT(stages[1], 1);
    OK(aclrtSynchronizeDevice());
    EXPECT(calls, 0);
    open_gate(&gate);
    EXPECT(aclrtDeviceTaskAbort(7, 1000), ACL_ERROR_RT_INVALID_DEVICEID);
    return finish();
}
