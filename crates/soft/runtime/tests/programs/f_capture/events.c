/* Events in captures. */
#include "../capture.h"
#include "../cases.h"

/* A stream that does not capture may record a captured event: it executes the record itself. */
CASE(a_captured_event_outside_of_its_capture)
{
    aclrtStream s1 = new_stream(), s2 = new_stream(), outside = new_stream();
    aclrtEvent event = new_event(), join = new_event();
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    SAY(aclrtRecordEvent(event, s1), 0);
    SAY(aclrtRecordEvent(event, outside), 0);
    EXPECT(status_of(outside), NONE);
    SAY(aclrtSynchronizeEvent(event), ACL_ERROR_RT_EVENT_CAPTURED);
    SAY(aclrtStreamWaitEvent(s2, event), 0);
    EXPECT(status_of(s2), ACTIVE);
    wait_for(s2, join, s1);
    end_well(s1, 4);
    SAY(aclrtSynchronizeEvent(event), 0);
}

/* An external wait binds a replay to the latest plain record at its submission. */
CASE(a_graph_waits_for_a_record_outside)
{
    static struct gate gate;
    aclrtStream graph_stream = new_stream(), outside = new_stream();
    aclrtEvent event = new_event();
    uint64_t *a = new_word(0), *b = new_word(0);
    SAY(aclmdlRICaptureBegin(graph_stream, RELAXED), 0);
    SAY(aclrtStreamWaitEventWithFlag(graph_stream, event, 0, ACL_EVENT_WAIT_EXTERNAL), 0);
    copy_word(b, a, graph_stream);
    aclmdlRI model = end_well(graph_stream, 2);
    run(model, graph_stream);
    EXPECT(*b, 0);
    SAY(aclrtLaunchHostFunc(outside, wait_at_gate, &gate), 0);
    set_word(a, 8, outside);
    SAY(aclrtRecordEvent(event, outside), 0);
    SAY(aclmdlRIExecuteAsync(model, graph_stream), 0);
    SAY(aclrtSynchronizeStreamWithTimeout(graph_stream, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(graph_stream));
    EXPECT(*b, 8);
}

/* A capture depends on nothing outside: such a wait is refused, and the capture goes on. */
CASE(a_record_from_outside_cannot_be_waited_for)
{
    aclrtStream stream = new_stream(), outside = new_stream();
    aclrtEvent event = new_event(), unrecorded = new_event();
    SAY(aclrtRecordEvent(event, outside), 0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtStreamWaitEvent(stream, event), ACL_ERROR_RT_CAPTURE_DEPENDENCY);
    SAY(aclrtStreamWaitEvent(stream, unrecorded), 0);
    EXPECT(status_of(stream), ACTIVE);
    end_well(stream, 0);
}

/* An external record is the event's latest from the submission of the replay on. */
CASE(a_stream_waits_for_a_record_in_a_graph)
{
    static struct gate gate, rest;
    aclrtEventRecordedStatus status;
    aclrtStream graph_stream = new_stream(), outside = new_stream();
    aclrtEvent event = new_event();
    uint64_t *a = new_word(0), *b = new_word(0);
    SAY(aclmdlRICaptureBegin(graph_stream, RELAXED), 0);
    SAY(aclrtLaunchHostFunc(graph_stream, wait_at_gate, &gate), 0);
    set_word(a, 6, graph_stream);
    SAY(aclrtRecordEventWithFlag(event, graph_stream, ACL_EVENT_RECORD_EXTERNAL), 0);
    SAY(aclrtLaunchHostFunc(graph_stream, wait_at_gate, &rest), 0);
    aclmdlRI model = end_well(graph_stream, 4);
    SAY(aclmdlRIExecuteAsync(model, graph_stream), 0);
    SAY(aclrtStreamWaitEvent(outside, event), 0);
    copy_word(b, a, outside);
    SAY(aclrtQueryEventStatus(event, &status), 0);
    EXPECT(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(outside));
    EXPECT(*b, 6);
    EXPECT(rest.open, 0);
    open_gate(&rest);
    OK(aclrtSynchronizeStream(graph_stream));
}

/* An event of one capture may be recorded in another one, and both stay good. */
CASE(an_event_is_recorded_in_two_captures)
{
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent event = new_event();
    SAY(aclmdlRICaptureBegin(s1, RELAXED), 0);
    SAY(aclmdlRICaptureBegin(s2, RELAXED), 0);
    SAY(aclrtRecordEvent(event, s1), 0);
    SAY(aclrtRecordEvent(event, s2), 0);
    end_well(s2, 1);
    EXPECT(status_of(s1), ACTIVE);
    end_well(s1, 1);
}

/* The host can neither query nor wait for an event whose record is captured; others it can. */
CASE(captured_events_cannot_be_asked)
{
    aclrtEvent event, other;
    aclrtEventRecordedStatus recorded;
    float ms;
    uint64_t time;
    aclrtStream stream = new_stream(), outside = new_stream();
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventExWithFlag(&other, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtRecordEvent(event, stream), 0);
    SAY(aclrtRecordEvent(other, outside), 0);
    SAY(aclrtQueryEventStatus(event, &recorded), ACL_ERROR_RT_EVENT_CAPTURED);
    SAY(aclrtSynchronizeEvent(event), ACL_ERROR_RT_EVENT_CAPTURED);
    SAY(aclrtSynchronizeEventWithTimeout(event, 5), ACL_ERROR_RT_EVENT_CAPTURED);
    SAY(aclrtEventElapsedTime(&ms, event, event), ACL_ERROR_RT_EVENT_CAPTURED);
    SAY(aclrtEventGetTimestamp(event, &time), ACL_ERROR_RT_EVENT_CAPTURED);
    SAY(aclrtSynchronizeEvent(other), 0);
    SAY(aclrtEventElapsedTime(&ms, other, other), 0);
    SAY(aclrtQueryEventStatus(other, &recorded), 0);
    end_well(stream, 1);
    SAY(aclrtQueryEventStatus(event, &recorded), 0);
    EXPECT(recorded, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    SAY(aclrtEventElapsedTime(&ms, event, event), ACL_ERROR_RT_INTERNAL_ERROR);
}

/* A later record is another node; events may be destroyed while they are captured. */
CASE(events_may_be_destroyed_and_recorded_again)
{
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent event = new_event();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    for (int i = 0; i < 3; i++) {
        SAY(aclrtLaunchHostFunc(s1, add_one, word), 0);
        wait_for(s1, event, s2);
        SAY(aclrtLaunchHostFunc(s2, add_one, word), 0);
        wait_for(s2, event, s1);
    }
    SAY(aclrtDestroyEvent(event), 0);
    aclmdlRI model = end_well(s1, 18);
    run(model, s2);
    EXPECT(*word, 6);
}

/* ACL_EVENT_EXTERNAL: a replay may wait for a record that comes after its submission. */
CASE(external_events_are_plain_tasks)
{
    aclrtEvent event;
    aclrtStream graph_stream = new_stream(), outside = new_stream();
    uint64_t *a = new_word(0), *b = new_word(0);
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_EXTERNAL));
    SAY(aclmdlRICaptureBegin(graph_stream, GLOBAL), 0);
    SAY(aclrtStreamWaitEvent(graph_stream, event), 0);
    SAY(aclrtResetEvent(event, graph_stream), 0);
    copy_word(b, a, graph_stream);
    aclmdlRI model = end_well(graph_stream, 2);
    for (int i = 1; i <= 3; i++) {
        SAY(aclmdlRIExecuteAsync(model, graph_stream), 0);
        SAY(aclrtSynchronizeStreamWithTimeout(graph_stream, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        set_word(a, (uint64_t)i, outside);
        SAY(aclrtRecordEvent(event, outside), 0);
        OK(aclrtSynchronizeStream(graph_stream));
        EXPECT(*b, i);
    }
}

/* A side stream whose last task is an external record has not come back. */
CASE(external_records_do_not_join)
{
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    SAY(aclrtRecordEventWithFlag(join, s2, ACL_EVENT_RECORD_EXTERNAL), 0);
    end_badly(s1, ACL_ERROR_RT_STREAM_UNJOINED);
}

/* External records and waits: in captures only, events with SYNC only, once per graph, no mixing. */

/* 
   SOFTACL: strict */
CASE(external_uses_are_checked)
{
    aclrtEvent timed;
    aclrtStream stream = new_stream();
    aclrtEvent event = new_event(), plain = new_event();
    OK(aclrtCreateEventExWithFlag(&timed, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    SAY(aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclrtRecordEventWithFlag(event, stream, 2), ACL_ERROR_INVALID_PARAM);
    SAY(aclrtStreamWaitEventWithFlag(stream, event, 0, 2), ACL_ERROR_INVALID_PARAM);
    SAY(aclrtRecordEventWithFlag(plain, stream, 0), 0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtRecordEventWithFlag(timed, stream, ACL_EVENT_RECORD_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclrtRecordEventWithFlag(plain, stream, ACL_EVENT_RECORD_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclrtStreamWaitEventWithFlag(stream, event, 1, ACL_EVENT_WAIT_EXTERNAL), ACL_ERROR_INVALID_PARAM);
    SAY(aclrtStreamWaitEventWithFlag(stream, event, (uint32_t)-1, ACL_EVENT_WAIT_EXTERNAL), ACL_ERROR_INVALID_PARAM);
    SAY(aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_EXTERNAL), 0);
    SAY(aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclrtStreamWaitEventWithFlag(stream, event, 0, ACL_EVENT_WAIT_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclrtRecordEvent(event, stream), ACL_ERROR_RT_PARAM_INVALID);
    end_well(stream, 1);
}

/* Held and IPC events cannot be captured; an event without SYNC is accepted and not captured. */
CASE(other_kinds_of_events_are_refused)
{
    aclrtEvent held, ipc, timeline;
    float ms;
    aclrtStream stream = new_stream();
    OK(aclrtCreateEventWithFlag(&held, ACL_EVENT_SYNC));
    OK(aclrtCreateEventExWithFlag(&ipc, ACL_EVENT_IPC));
    OK(aclrtCreateEventExWithFlag(&timeline, ACL_EVENT_TIME_LINE));
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtRecordEvent(held, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtStreamWaitEvent(stream, held), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtResetEvent(held, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtRecordEvent(ipc, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtRecordEvent(timeline, stream), 0);
    aclmdlRI model = end_well(stream, 0);
    run(model, stream);
    SAY(aclrtEventElapsedTime(&ms, timeline, timeline), ACL_ERROR_RT_INTERNAL_ERROR);
}

/* Only events of aclrtCreateEventExWithFlag can be captured: samples of 2025 did it with others. The capture goes on, and whoever waits for such an event does not join. */
CASE(plain_events_are_refused)
{
    aclrtEvent plain, held, recorded;
    aclrtEventStatus status;
    aclrtStream stream = new_stream(), side = new_stream();
    uint64_t *a = new_word(1), *b = new_word(0);
    OK(aclrtCreateEvent(&plain));
    OK(aclrtCreateEvent(&recorded));
    OK(aclrtCreateEventWithFlag(&held, ACL_EVENT_SYNC));
    OK(aclrtRecordEvent(recorded, stream));
    OK(aclrtSynchronizeStream(stream));
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtRecordEvent(plain, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtRecordEventWithFlag(plain, stream, ACL_EVENT_RECORD_DEFAULT), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtStreamWaitEvent(stream, plain), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtStreamWaitEvent(stream, recorded), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtResetEvent(plain, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtRecordEvent(held, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtStreamWaitEvent(stream, held), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtStreamWaitEvent(side, plain), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(status_of(stream), ACTIVE);
    EXPECT(status_of(side), NONE);
    /* No capture has them, so they may be asked. */
    SAY(aclrtQueryEvent(plain, &status), 0);
    EXPECT(status, ACL_EVENT_STATUS_COMPLETE);
    copy_word(b, a, stream);
    aclmdlRI model = end_well(stream, 1);
    *a = 44;
    run(model, stream);
    EXPECT(*b, 44);
}
