/* A record that was dropped is recorded, and its time is zero. */
#include "../check.h"

int main(void)
{
    aclrtStream stream;
    aclrtEvent before, dropped;
    struct gate gate = {0, 0};
    uint64_t stamp = 1;
    aclrtEventRecordedStatus status;
    float ms;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateEventExWithFlag(&before, ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventExWithFlag(&dropped, ACL_EVENT_TIME_LINE));
    OK(aclrtRecordEvent(before, stream));
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    OK(aclrtRecordEvent(dropped, stream));
    while (!__atomic_load_n(&gate.entered, __ATOMIC_SEQ_CST)) {
        sleep_ms(1);
    }
    OK(aclrtDestroyStreamForce(stream));
    open_gate(&gate);
    OK(aclrtQueryEventStatus(dropped, &status));
    EXPECT(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    OK(aclrtEventGetTimestamp(dropped, &stamp));
    EXPECT(stamp, 0);
    OK(aclrtEventGetTimestamp(before, &stamp));
    TRUE(stamp > 0);
    OK(aclrtEventElapsedTime(&ms, before, dropped));
    TRUE(ms < 0);
    return finish();
}
