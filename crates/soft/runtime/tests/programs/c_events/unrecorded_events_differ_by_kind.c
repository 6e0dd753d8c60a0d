/* Before the first record an old event is not ready and cannot be waited for; a new one is complete. */
#include "../check.h"

int main(void)
{
    aclrtEvent old, held, fresh;
    aclrtStream stream;
    struct gate gate = {0, 0};
    aclrtEventRecordedStatus recorded;
    aclrtEventStatus status;
    uint32_t id, task;
    uint64_t stamp;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateEvent(&old));
    OK(aclrtCreateEventWithFlag(&held, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventExWithFlag(&fresh, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    OK(aclrtQueryEventStatus(old, &recorded));
    EXPECT(recorded, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    OK(aclrtQueryEventStatus(held, &recorded));
    EXPECT(recorded, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    OK(aclrtQueryEventStatus(fresh, &recorded));
    EXPECT(recorded, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    OK(aclrtQueryEvent(old, &status));
    EXPECT(status, ACL_EVENT_STATUS_COMPLETE);
    EXPECT(aclrtStreamWaitEvent(stream, old), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtStreamWaitEvent(stream, fresh));
    OK(aclrtGetThreadLastTaskId(&task));
    EXPECT(task, 0);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtSynchronizeEvent(old));
    OK(aclrtSynchronizeEvent(fresh));
    EXPECT(aclrtEventGetTimestamp(old, &stamp), ACL_ERROR_RT_INTERNAL_ERROR);
    EXPECT(aclrtEventGetTimestamp(fresh, &stamp), ACL_ERROR_RT_INTERNAL_ERROR);
    EXPECT(aclrtGetEventId(old, &id), ACL_ERROR_RT_INTERNAL_ERROR);
    OK(aclrtGetEventId(held, &id));
    EXPECT(aclrtGetEventId(fresh, &id), ACL_ERROR_RT_INTERNAL_ERROR);
    /* A new event has an id from its record on until that was reached. */
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    OK(aclrtRecordEvent(fresh, stream));
    OK(aclrtGetEventId(fresh, &id));
    open_gate(&gate);
    OK(aclrtSynchronizeStream(stream));
    EXPECT(aclrtGetEventId(fresh, &id), ACL_ERROR_RT_INTERNAL_ERROR);
    return finish();
}
