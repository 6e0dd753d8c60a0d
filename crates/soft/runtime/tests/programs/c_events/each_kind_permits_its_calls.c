/* The permission table of section c, recorded events. */
#include "../check.h"

int main(void)
{
    enum { KINDS = 6 };
    static const struct row {
        int ex, plain;
        uint32_t flags;
        int wait, reset, query, wait_status, elapsed, id;
    } rows[KINDS] = {
        {0, 1, 0, 0, 0, 0, 0, 0, 0},
        {0, 0, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE, 0, 0, 0, 0, 0, 0},
        {0, 0, ACL_EVENT_TIME_LINE, 207000, 207000, 0, 0, 0, 507000},
        {1, 0, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE, 0, 207000, 207000, 207000, 0, 507000},
        {1, 0, ACL_EVENT_TIME_LINE, 207000, 207000, 207000, 207000, 0, 507000},
        {1, 0, ACL_EVENT_IPC, 0, 207000, 207000, 207000, 207000, 207000},
    };
    aclrtStream stream, other;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    for (int i = 0; i < KINDS; i++) {
        const struct row *row = &rows[i];
        aclrtEvent event;
        aclrtEventStatus status;
        aclrtEventWaitStatus wait_status;
        aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
        float ms = -1;
        uint32_t id;
        if (row->plain) {
            OK(aclrtCreateEvent(&event));
        } else if (row->ex) {
            OK(aclrtCreateEventExWithFlag(&event, row->flags));
        } else {
            OK(aclrtCreateEventWithFlag(&event, row->flags));
        }
        OK(aclrtRecordEvent(event, stream));
        EXPECT(aclrtStreamWaitEvent(other, event), row->wait);
        OK(aclrtSynchronizeEvent(event));
        OK(aclrtSynchronizeStream(other));
        OK(aclrtQueryEventStatus(event, &recorded));
        EXPECT(recorded, ACL_EVENT_RECORDED_STATUS_COMPLETE);
        EXPECT(aclrtQueryEvent(event, &status), row->query);
        EXPECT(aclrtQueryEventWaitStatus(event, &wait_status), row->wait_status);
        EXPECT(aclrtEventElapsedTime(&ms, event, event), row->elapsed);
        EXPECT(aclrtGetEventId(event, &id), row->id);
        EXPECT(aclrtResetEvent(event, other), row->reset);
        OK(aclrtSynchronizeStream(other));
        OK(aclrtDestroyEvent(event));
    }
    return finish();
}
