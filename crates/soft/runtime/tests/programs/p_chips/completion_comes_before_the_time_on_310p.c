/* Without STARS a query sees completion, and the time is there when a synchronisation copied it.
   SOFTACL: chip=310p,readback_ns=100000 */
#include "../check.h"

static int status_of(aclrtEvent event)
{
    aclrtEventRecordedStatus status = -1;
    OK(aclrtQueryEventStatus(event, &status));
    return status;
}

int main(void)
{
    enum { COUNT = 50 };
    aclrtStream stream, other;
    aclrtEvent events[COUNT];
    uint64_t stamp;
    uint32_t count;
    start();
    EXPECT(strcmp(aclrtGetSocName(), "Ascend310P3"), 0);
    OK(aclrtGetEventAvailNum(&count));
    EXPECT(count, 1023);
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    for (int i = 0; i < COUNT; i++) {
        OK(aclrtCreateEventExWithFlag(&events[i], ACL_EVENT_TIME_LINE));
        OK(aclrtRecordEvent(events[i], stream));
    }
    for (int i = 0; i < 5000 && !status_of(events[COUNT - 1]); i++) {
        sleep_ms(1);
    }
    EXPECT(status_of(events[COUNT - 1]), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    EXPECT(aclrtEventGetTimestamp(events[COUNT - 1], &stamp), 107006);
    /* Another stream's synchronisation looks at that stream alone. */
    OK(aclrtSynchronizeStream(other));
    EXPECT(aclrtEventGetTimestamp(events[0], &stamp), 107006);
    uint64_t before = host_ns();
    OK(aclrtSynchronizeStream(stream));
    TRUE(host_ns() - before >= COUNT * 100000u);
    OK(aclrtEventGetTimestamp(events[0], &stamp));
    OK(aclrtEventGetTimestamp(events[COUNT - 1], &stamp));
    return finish();
}
