/* A time is there when the runtime has looked: a query looks and says so the next time; a synchronisation
   of any stream of the device looks at all of its streams; a query of a stream does not look. */
#include "../check.h"

static aclrtEvent timed(void)
{
    aclrtEvent event;
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_TIME_LINE));
    return event;
}

static int status_of(aclrtEvent event)
{
    aclrtEventRecordedStatus status = -1;
    OK(aclrtQueryEventStatus(event, &status));
    return status;
}

/* Until the device has done all, as far as the stream can tell, which looks at no event. */
static void until_idle(aclrtStream stream)
{
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    for (int i = 0; i < 5000 && status != ACL_STREAM_STATUS_COMPLETE; i++) {
        OK(aclrtStreamQuery(stream, &status));
        sleep_ms(1);
    }
    EXPECT(status, ACL_STREAM_STATUS_COMPLETE);
}

int main(void)
{
    aclrtStream stream, other;
    uint64_t stamp;
    float ms;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    aclrtEvent first = timed(), second = timed(), third = timed(), elsewhere = timed();
    OK(aclrtRecordEvent(first, stream));
    OK(aclrtRecordEvent(second, stream));
    OK(aclrtRecordEvent(elsewhere, other));
    until_idle(stream);
    until_idle(other);
    EXPECT(aclrtEventGetTimestamp(first, &stamp), 107006);
    EXPECT(aclrtEventElapsedTime(&ms, first, second), 107006);
    /* The query finds it complete and its time missing: it looks, and the next one knows. */
    EXPECT(status_of(second), ACL_EVENT_RECORDED_STATUS_NOT_READY);
    EXPECT(status_of(second), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    OK(aclrtEventGetTimestamp(second, &stamp));
    /* What was recorded before was recycled with it, and so were all streams of the device. */
    OK(aclrtEventElapsedTime(&ms, first, second));
    EXPECT(status_of(first), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    OK(aclrtEventGetTimestamp(elsewhere, &stamp));

    /* What is recorded later is not. */
    OK(aclrtRecordEvent(third, stream));
    until_idle(stream);
    EXPECT(aclrtEventGetTimestamp(third, &stamp), 107006);
    OK(aclrtSynchronizeStream(other));
    OK(aclrtEventGetTimestamp(third, &stamp));

    /* An event without a time tells its completion at once, and makes nobody look. */
    aclrtEvent plain;
    OK(aclrtCreateEventExWithFlag(&plain, ACL_EVENT_SYNC));
    OK(aclrtRecordEvent(plain, stream));
    OK(aclrtRecordEvent(third, stream));
    until_idle(stream);
    EXPECT(status_of(plain), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    EXPECT(aclrtEventGetTimestamp(plain, &stamp), 107006);
    EXPECT(aclrtEventGetTimestamp(third, &stamp), 107006);

    /* The older query always looks, too late for its own answer. */
    aclrtEvent old;
    aclrtEventStatus answer;
    OK(aclrtCreateEvent(&old));
    OK(aclrtRecordEvent(old, other));
    until_idle(other);
    OK(aclrtQueryEvent(old, &answer));
    EXPECT(answer, ACL_EVENT_STATUS_NOT_READY);
    OK(aclrtQueryEvent(old, &answer));
    EXPECT(answer, ACL_EVENT_STATUS_COMPLETE);
    OK(aclrtEventGetTimestamp(old, &stamp));
    OK(aclrtEventGetTimestamp(third, &stamp));
    return finish();
}
