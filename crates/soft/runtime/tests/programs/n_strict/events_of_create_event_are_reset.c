/* A reset after the wait, as older samples do it with events of aclrtCreateEvent, which leaves their record. */
#include "../check.h"

int main(void)
{
    aclrtEvent plain, held;
    aclrtStream first, second;
    aclrtEventRecordedStatus recorded;
    start();
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtCreateEvent(&plain));
    OK(aclrtCreateEventWithFlag(&held, ACL_EVENT_SYNC));
    for (int round = 0; round < 3; round++) {
        OK(aclrtRecordEvent(plain, first));
        OK(aclrtStreamWaitEvent(second, plain));
        OK(aclrtResetEvent(plain, second));
        OK(aclrtRecordEvent(held, first));
        OK(aclrtStreamWaitEvent(second, held));
        OK(aclrtResetEvent(held, second));
        OK(aclrtSynchronizeStream(second));
    }
    OK(aclrtQueryEventStatus(plain, &recorded));
    EXPECT(recorded, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    OK(aclrtQueryEventStatus(held, &recorded));
    EXPECT(recorded, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    return finish();
}
