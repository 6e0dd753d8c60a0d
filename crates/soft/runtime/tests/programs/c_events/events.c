#include "../cases.h"

/* A wait belongs to the record that was latest when it was issued; recording again does not move it. */
CASE(a_wait_keeps_its_record)
{
    aclrtEvent event;
    aclrtStream first, second, waiting;
    struct gate early = {0, 0}, late = {0, 0};
    aclrtEventRecordedStatus status;
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtCreateStream(&waiting));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtLaunchHostFunc(first, wait_at_gate, &early));
    OK(aclrtRecordEvent(event, first));
    OK(aclrtStreamWaitEvent(waiting, event));
    aclrtContext context;
    OK(aclrtCreateContext(&context, 0));
    aclrtContext own;
    OK(aclrtGetCurrentContext(&own));
    TRUE(own == context);
    aclrtStream apart;
    OK(aclrtCreateStream(&apart));
    OK(aclrtLaunchHostFunc(apart, wait_at_gate, &late));
    OK(aclrtRecordEvent(event, apart));
    open_gate(&early);
    OK(aclrtSynchronizeStream(waiting));
    EXPECT(late.open, 0);
    OK(aclrtQueryEventStatus(event, &status));
    EXPECT(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    EXPECT(aclrtSynchronizeEventWithTimeout(event, 20), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
    open_gate(&late);
    OK(aclrtSynchronizeEvent(event));
    OK(aclrtQueryEventStatus(event, &status));
    EXPECT(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
}

/* An event that holds its id can be waited for before it is recorded. */
CASE(a_wait_may_come_before_the_record)
{
    aclrtEvent event;
    aclrtStream waiting, recording;
    aclrtStreamStatus state;
    OK(aclrtCreateStream(&waiting));
    OK(aclrtCreateStream(&recording));
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtStreamWaitEvent(waiting, event));
    EXPECT(aclrtSynchronizeStreamWithTimeout(waiting, 30), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    OK(aclrtRecordEvent(event, recording));
    OK(aclrtSynchronizeStream(waiting));
    OK(aclrtStreamQuery(waiting, &state));
    EXPECT(state, ACL_STREAM_STATUS_COMPLETE);
    OK(aclrtResetEvent(event, waiting));
    OK(aclrtStreamWaitEvent(waiting, event));
    EXPECT(aclrtSynchronizeStreamWithTimeout(waiting, 30), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    OK(aclrtRecordEvent(event, recording));
    OK(aclrtSynchronizeStream(waiting));
}

/* Destroying a pending event returns at once; the work it stands for goes on. */
CASE(an_event_dies_after_its_work)
{
    aclrtEvent event;
    aclrtStream first, second;
    aclrtStreamStatus state;
    struct gate gate = {0, 0};
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
}

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

/* A time is there when the runtime has looked: a query looks and says so the next time; a synchronisation of any stream of the device looks at all of its streams; a query of a stream does not look. */
CASE(completion_is_known_after_somebody_looked)
{
    aclrtStream stream, other;
    uint64_t stamp;
    float ms;
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
}

/* Each way to create an event has its flags. */
CASE(creation_flags_are_checked)
{
    aclrtEvent event;
    OK(aclrtCreateEvent(&event));
    EXPECT(aclrtCreateEvent(NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_DEVICE_USE_ONLY));
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_EXTERNAL));
    EXPECT(aclrtCreateEventWithFlag(&event, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtCreateEventWithFlag(&event, ACL_EVENT_IPC), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtCreateEventWithFlag(&event, 0x80), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtCreateEventWithFlag(&event, ACL_EVENT_EXTERNAL | ACL_EVENT_SYNC),
           ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | 0x4));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
    EXPECT(aclrtCreateEventExWithFlag(&event, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtCreateEventExWithFlag(&event, ACL_EVENT_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtCreateEventExWithFlag(&event, ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_SYNC),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC | ACL_EVENT_SYNC),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtCreateEventExWithFlag(NULL, ACL_EVENT_SYNC), ACL_ERROR_INVALID_PARAM);
}

/* Events for the device only are refused on the host; external ones cannot be looked at. */
CASE(device_only_and_external_events)
{
    aclrtEvent device, external;
    aclrtEventRecordedStatus status;
    uint64_t stamp;
    float ms;
    OK(aclrtCreateEventWithFlag(&device, ACL_EVENT_DEVICE_USE_ONLY));
    EXPECT(aclrtRecordEvent(device, NULL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtStreamWaitEvent(NULL, device), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtResetEvent(device, NULL), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtSynchronizeEvent(device));
    OK(aclrtCreateEventWithFlag(&external, ACL_EVENT_EXTERNAL));
    OK(aclrtRecordEvent(external, NULL));
    EXPECT(aclrtQueryEventStatus(external, &status), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtSynchronizeEvent(external), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtEventGetTimestamp(external, &stamp), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtEventElapsedTime(&ms, external, external), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclrtResetEvent(external, NULL));
    OK(aclrtSynchronizeStream(NULL));
}

/* A record that was dropped is recorded, and its time is zero. */
CASE(dropped_records_have_the_time_zero)
{
    aclrtStream stream;
    aclrtEvent before, dropped;
    struct gate gate = {0, 0};
    uint64_t stamp = 1;
    aclrtEventRecordedStatus status;
    float ms;
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
}

/* The permission table of section c, recorded events. */
CASE(each_kind_permits_its_calls)
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
}

/* Ids are limited: held ones are refused, recorded ones come back with the event.
   SOFTACL: events=4 */
CASE(events_run_out)
{
    aclrtEvent held[5], plain, timeline;
    uint32_t left = 99;
    OK(aclrtGetEventAvailNum(&left));
    EXPECT(left, 4);
    for (int i = 0; i < 4; i++) {
        OK(aclrtCreateEventWithFlag(&held[i], ACL_EVENT_SYNC));
    }
    EXPECT(aclrtCreateEventWithFlag(&held[4], ACL_EVENT_SYNC), ACL_ERROR_RT_NO_EVENT_RESOURCE);
    OK(aclrtGetEventAvailNum(&left));
    EXPECT(left, 0);
    OK(aclrtCreateEvent(&plain));
    EXPECT(aclrtRecordEvent(plain, NULL), ACL_ERROR_RT_NO_EVENT_RESOURCE);
    OK(aclrtCreateEventExWithFlag(&timeline, ACL_EVENT_TIME_LINE));
    OK(aclrtRecordEvent(timeline, NULL));
    OK(aclrtDestroyEvent(held[1]));
    OK(aclrtRecordEvent(plain, NULL));
    OK(aclrtRecordEvent(plain, NULL));
    OK(aclrtSynchronizeStream(NULL));
    OK(aclrtGetEventAvailNum(&left));
    EXPECT(left, 0);
    OK(aclrtDestroyEvent(plain));
    OK(aclrtGetEventAvailNum(&left));
    EXPECT(left, 1);
}

/* A completed event without TIME_LINE has the time zero and no error. */
CASE(events_without_a_timeline_read_zero)
{
    aclrtEvent plain, timed;
    uint64_t stamp = 5;
    float ms = 5;
    OK(aclrtCreateEventExWithFlag(&plain, ACL_EVENT_SYNC));
    OK(aclrtCreateEventExWithFlag(&timed, ACL_EVENT_TIME_LINE));
    OK(aclrtRecordEvent(plain, NULL));
    OK(aclrtRecordEvent(timed, NULL));
    OK(aclrtSynchronizeStream(NULL));
    OK(aclrtEventGetTimestamp(plain, &stamp));
    EXPECT(stamp, 0);
    OK(aclrtEventElapsedTime(&ms, plain, plain));
    TRUE(ms == 0);
    OK(aclrtEventGetTimestamp(timed, &stamp));
    TRUE(stamp != 0);
    EXPECT(aclrtEventElapsedTime(NULL, plain, timed), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtEventElapsedTime(&ms, NULL, timed), ACL_ERROR_INVALID_PARAM);
}

/* A timeline event gives its time only after a query or a synchronisation saw it complete. */
CASE(time_is_readable_after_completion_was_seen)
{
    enum { SIZE = 24000 };
    aclrtStream stream;
    aclrtEvent first, second;
    float ms = -1;
    uint64_t stamp = 0, later = 0;
    void *host, *device;
    OK(aclrtCreateStream(&stream));
    OK(aclrtMallocHost(&host, SIZE));
    OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtCreateEventExWithFlag(&first, ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventExWithFlag(&second, ACL_EVENT_TIME_LINE));
    EXPECT(aclrtEventElapsedTime(&ms, first, second), ACL_ERROR_RT_INTERNAL_ERROR);
    OK(aclrtRecordEvent(first, stream));
    OK(aclrtMemcpyAsync(device, SIZE, host, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtRecordEvent(second, stream));
    sleep_ms(20);
    EXPECT(aclrtEventElapsedTime(&ms, first, second), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
    EXPECT(aclrtEventGetTimestamp(first, &stamp), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtEventElapsedTime(&ms, first, second));
    /* 24000 bytes at 24 GB/s and 1500 ns of latency: at least 2500 ns. */
    TRUE(ms >= 0.00249f && ms < 1000.0f);
    OK(aclrtEventElapsedTime(&ms, second, first));
    TRUE(ms < 0);
    OK(aclrtEventGetTimestamp(first, &stamp));
    OK(aclrtEventGetTimestamp(second, &later));
    TRUE(later >= stamp + 2);
    OK(aclrtRecordEvent(first, stream));
    EXPECT(aclrtEventGetTimestamp(first, &stamp), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
    OK(aclrtSynchronizeEvent(first));
    OK(aclrtEventGetTimestamp(first, &stamp));
    TRUE(stamp >= later);
    EXPECT(aclrtEventGetTimestamp(NULL, &stamp), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtEventGetTimestamp(first, NULL), ACL_ERROR_INVALID_PARAM);
}

/* Before the first record an old event is not ready and cannot be waited for; a new one is complete. */
CASE(unrecorded_events_differ_by_kind)
{
    aclrtEvent old, held, fresh;
    aclrtStream stream;
    struct gate gate = {0, 0};
    aclrtEventRecordedStatus recorded;
    aclrtEventStatus status;
    uint32_t id, task;
    uint64_t stamp;
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
}

/* A wait holds its stream until the record of another stream was reached; several may wait. */
CASE(wait_orders_streams)
{
    enum { WAITERS = 3, SIZE = 4096 };
    aclrtStream source, waiting[WAITERS];
    aclrtEvent event;
    aclrtEventRecordedStatus status;
    struct gate gate = {0, 0};
    void *from, *middle, *to;
    OK(aclrtMallocHost(&from, SIZE));
    OK(aclrtMallocHost(&to, SIZE));
    OK(aclrtMalloc(&middle, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    memset(from, 7, SIZE);
    memset(to, 0, SIZE);
    OK(aclrtCreateStream(&source));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtLaunchHostFunc(source, wait_at_gate, &gate));
    OK(aclrtMemcpyAsync(middle, SIZE, from, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, source));
    OK(aclrtRecordEvent(event, source));
    for (int i = 0; i < WAITERS; i++) {
        OK(aclrtCreateStream(&waiting[i]));
        OK(aclrtStreamWaitEvent(waiting[i], event));
    }
    OK(aclrtMemcpyAsync(to, SIZE, middle, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, waiting[1]));
    for (int i = 0; i < WAITERS; i++) {
        aclrtStreamStatus state;
        OK(aclrtStreamQuery(waiting[i], &state));
        EXPECT(state, ACL_STREAM_STATUS_NOT_READY);
    }
    OK(aclrtQueryEventStatus(event, &status));
    EXPECT(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    open_gate(&gate);
    for (int i = 0; i < WAITERS; i++) {
        OK(aclrtSynchronizeStream(waiting[i]));
    }
    OK(aclrtQueryEventStatus(event, &status));
    EXPECT(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    EXPECT(memcmp(from, to, SIZE), 0);
}

/* QueryEventWaitStatus is complete when every wait was passed. */
CASE(wait_status_tells_whether_all_have_passed)
{
    aclrtEvent event;
    aclrtStream first, second;
    aclrtEventWaitStatus status = ACL_EVENT_WAIT_STATUS_RESERVED;
    aclrtEventStatus query = ACL_EVENT_STATUS_RESERVED;
    struct gate gate = {0, 0};
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtLaunchHostFunc(first, wait_at_gate, &gate));
    OK(aclrtRecordEvent(event, first));
    OK(aclrtStreamWaitEvent(second, event));
    OK(aclrtQueryEventWaitStatus(event, &status));
    EXPECT(status, ACL_EVENT_WAIT_STATUS_NOT_READY);
    OK(aclrtQueryEvent(event, &query));
    EXPECT(query, ACL_EVENT_STATUS_NOT_READY);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(second));
    OK(aclrtQueryEventWaitStatus(event, &status));
    EXPECT(status, ACL_EVENT_WAIT_STATUS_COMPLETE);
    OK(aclrtQueryEvent(event, &query));
    EXPECT(query, ACL_EVENT_STATUS_COMPLETE);
    OK(aclrtResetEvent(event, second));
    OK(aclrtSynchronizeStream(second));
}

/* A stream can wait for an event of another device. */
CASE(waits_cross_devices)
{
    aclrtEvent event;
    aclrtStream first, second;
    aclrtContext zero, one;
    struct gate gate = {0, 0};
    OK(aclrtGetCurrentContext(&zero));
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtLaunchHostFunc(first, wait_at_gate, &gate));
    OK(aclrtRecordEvent(event, first));
    OK(aclrtSetDevice(1));
    OK(aclrtGetCurrentContext(&one));
    OK(aclrtCreateStream(&second));
    OK(aclrtStreamWaitEvent(second, event));
    EXPECT(aclrtSynchronizeStreamWithTimeout(second, 30), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(second));
    EXPECT(aclrtRecordEvent(event, first), ACL_ERROR_RT_STREAM_CONTEXT);
    OK(aclrtSetCurrentContext(zero));
    OK(aclrtRecordEvent(event, first));
}

/* A wait with a timeout gives up, and the next synchronisation says so. */
CASE(waits_time_out)
{
    aclrtEvent event;
    aclrtStream first, second;
    struct gate gate = {0, 0};
    uint64_t begin;
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtLaunchHostFunc(first, wait_at_gate, &gate));
    OK(aclrtRecordEvent(event, first));
    EXPECT(aclrtStreamWaitEventWithTimeout(second, event, -1), ACL_ERROR_RT_PARAM_INVALID);
    begin = host_ns();
    OK(aclrtStreamWaitEventWithTimeout(second, event, 1));
    EXPECT(aclrtSynchronizeStream(second), ACL_ERROR_RT_WAIT_TIMEOUT);
    TRUE(host_ns() - begin >= 1000000000u);
    OK(aclrtSynchronizeStream(second));
    EXPECT(aclrtSynchronizeEventWithTimeout(event, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtSynchronizeEventWithTimeout(event, 20), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
    open_gate(&gate);
    OK(aclrtSynchronizeEventWithTimeout(event, -1));
    EXPECT(aclrtRecordEventWithFlag(event, first, ACL_EVENT_RECORD_EXTERNAL),
           ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtRecordEventWithFlag(event, first, ACL_EVENT_RECORD_DEFAULT));
    OK(aclrtStreamWaitEventWithFlag(second, event, 0, ACL_EVENT_WAIT_DEFAULT));
    OK(aclrtSynchronizeStream(second));
}
