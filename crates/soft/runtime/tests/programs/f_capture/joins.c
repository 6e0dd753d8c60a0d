/* Streams that join a capture. */
#include "../capture.h"
#include "../cases.h"

/* Two side streams wait for each other, none for the origin. */
CASE(a_join_that_misses_the_origin_is_an_error)
{
    aclrtStream s1 = new_stream(), s2 = new_stream(), s3 = new_stream();
    aclrtEvent fork = new_event(), last2 = new_event(), last3 = new_event(), first3 = new_event();
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    SAY(aclrtRecordEvent(fork, s1), 0);
    SAY(aclrtStreamWaitEvent(s2, fork), 0);
    SAY(aclrtStreamWaitEvent(s3, fork), 0);
    SAY(aclrtRecordEvent(first3, s3), 0);
    SAY(aclrtStreamWaitEvent(s2, first3), 0);
    SAY(aclrtRecordEvent(last2, s2), 0);
    SAY(aclrtStreamWaitEvent(s3, last2), 0);
    SAY(aclrtRecordEvent(last3, s3), 0);
    SAY(aclrtStreamWaitEvent(s3, last3), 0);
    end_badly(s1, ACL_ERROR_RT_STREAM_UNJOINED);
}

/* The last record of a side stream must be waited for: an extra one spoils the join. */
CASE(a_record_after_the_join_is_an_error)
{
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event(), join = new_event(), extra = new_event();
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    wait_for(s2, join, s1);
    SAY(aclrtRecordEvent(extra, s2), 0);
    end_badly(s1, ACL_ERROR_RT_STREAM_UNJOINED);
}

/* The record alone does not bring a stream back. */
CASE(a_record_nobody_waits_for_does_not_join)
{
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    SAY(aclrtRecordEvent(join, s2), 0);
    end_badly(s1, ACL_ERROR_RT_STREAM_UNJOINED);
}

/* Seed 001's task5: what follows the joining record on a side stream belongs to nobody. */
CASE(a_task_after_the_join_is_an_error)
{
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    wait_for(s2, join, s1);
    set_word(word, 1, s2);
    EXPECT(status_of(s1), ACTIVE);
    end_badly(s1, ACL_ERROR_RT_STREAM_UNJOINED);
    EXPECT(status_of(s1), NONE);
    EXPECT(status_of(s2), NONE);
    OK(aclrtSynchronizeStream(s2));
    EXPECT(*word, 0);
}

/* A stream that joined and did not come back. */
CASE(an_unjoined_stream_is_an_error)
{
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    set_word(word, 1, s2);
    end_badly(s1, ACL_ERROR_RT_STREAM_UNJOINED);
}

/* Two branches of 1 ms each take 1 ms together, and 2 ms after each other. */
static float measure(aclmdlRI model, aclrtStream stream)
{
    aclrtEvent before, after;
    float ms = 0;
    OK(aclrtCreateEventExWithFlag(&before, ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventExWithFlag(&after, ACL_EVENT_TIME_LINE));
    SAY(aclrtRecordEvent(before, stream), 0);
    SAY(aclmdlRIExecuteAsync(model, stream), 0);
    SAY(aclrtRecordEvent(after, stream), 0);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtEventElapsedTime(&ms, before, after));
    return ms;
}

/* 
   SOFTACL: tick_ns=1,clock_offset_ns=0,drift_ppm=0 */
CASE(branches_overlap)
{
    /* 22 GB/s from device to host: 22 MB in 1 ms, and 1.5 us of latency. */
    enum { BYTES = 22000000 };
    void *device, *host;
    aclrtStream stream = new_stream(), side = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    OK(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&host, BYTES));
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    wait_for(stream, fork, side);
    SAY(aclrtMemcpyAsync(host, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, side), 0);
    SAY(aclrtMemcpyAsync(host, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream), 0);
    wait_for(side, join, stream);
    aclmdlRI parallel = end_well(stream, 6);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtMemcpyAsync(host, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream), 0);
    SAY(aclrtMemcpyAsync(host, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream), 0);
    aclmdlRI serial = end_well(stream, 2);
    /* Between two records there are also the submissions of the host, at most a few ms. */
    float together = measure(parallel, stream), apart = measure(serial, stream);
    TRUE(together >= 1.0015f);
    TRUE(apart >= 2.003f);
}

/* A wait that would draw the default stream into a capture is refused; a record there is a plain one. */
CASE(the_default_stream_cannot_join)
{
    aclrtStream stream = new_stream(), own;
    aclrtEvent event = new_event();
    OK(aclrtCtxGetCurrentDefaultStream(&own));
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtRecordEvent(event, stream), 0);
    SAY(aclrtStreamWaitEvent(NULL, event), ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT);
    SAY(aclrtStreamWaitEvent(own, event), ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT);
    SAY(aclrtRecordEvent(event, NULL), 0);
    EXPECT(status_of(stream), ACTIVE);
    end_well(stream, 1);
}

/* The last task of a thread is told in captures too: its number in the lane. */
CASE(the_last_task_is_that_of_the_lane)
{
    uint32_t task = 99;
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    set_word(word, 1, s1);
    set_word(word, 1, s1);
    SAY(aclrtGetThreadLastTaskId(&task), 0);
    EXPECT(task, 1);
    wait_for(s1, fork, s2);
    SAY(aclrtGetThreadLastTaskId(&task), 0);
    EXPECT(task, 0);
    set_word(word, 1, s2);
    SAY(aclrtGetThreadLastTaskId(&task), 0);
    EXPECT(task, 1);
    wait_for(s2, join, s1);
    end_well(s1, 7);
}

/* A stream may come back to the origin although it came from another one. */
CASE(the_third_stream_comes_back_to_the_first)
{
    aclrtStream s1 = new_stream(), s2 = new_stream(), s3 = new_stream();
    aclrtEvent to2 = new_event(), to3 = new_event(), back2 = new_event(), back3 = new_event();
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, to2, s2);
    wait_for(s2, to3, s3);
    wait_for(s3, back3, s1);
    wait_for(s2, back2, s1);
    end_well(s1, 8);
}

/* Two streams leave the origin and come back to it, each by an event of its own. */
CASE(three_streams_join_directly)
{
    aclrtStream s1 = new_stream(), s2 = new_stream(), s3 = new_stream();
    aclrtEvent fork = new_event(), back2 = new_event(), back3 = new_event();
    uint64_t *a = new_word(0), *b = new_word(0), *c = new_word(0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    set_word(a, 3, s1);
    SAY(aclrtRecordEvent(fork, s1), 0);
    SAY(aclrtStreamWaitEvent(s2, fork), 0);
    SAY(aclrtStreamWaitEvent(s3, fork), 0);
    copy_word(b, a, s2);
    copy_word(c, a, s3);
    wait_for(s3, back3, s1);
    wait_for(s2, back2, s1);
    aclmdlRI model = end_well(s1, 10);
    run(model, s1);
    EXPECT(*b + *c, 6);
}

/* The third stream comes from the second, and comes back to it. */
CASE(three_streams_join_indirectly)
{
    aclrtStream s1 = new_stream(), s2 = new_stream(), s3 = new_stream();
    aclrtEvent to2 = new_event(), to3 = new_event(), back2 = new_event(), back3 = new_event();
    uint64_t *a = new_word(0), *b = new_word(0), *c = new_word(0), *d = new_word(0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    set_word(a, 9, s1);
    wait_for(s1, to2, s2);
    copy_word(b, a, s2);
    wait_for(s2, to3, s3);
    EXPECT(status_of(s3), ACTIVE);
    copy_word(c, b, s3);
    wait_for(s3, back3, s2);
    wait_for(s2, back2, s1);
    copy_word(d, c, s1);
    aclmdlRI model = end_well(s1, 12);
    run(model, s1);
    EXPECT(*d, 9);
}

/* A wait for a captured record draws a stream into the capture; a record and a wait bring it back. */
CASE(two_streams_join)
{
    aclrtStream main_stream = new_stream(), side = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    uint64_t *a = new_word(0), *b = new_word(0), *c = new_word(0);
    SAY(aclmdlRICaptureBegin(main_stream, GLOBAL), 0);
    set_word(a, 7, main_stream);
    EXPECT(status_of(side), NONE);
    wait_for(main_stream, fork, side);
    EXPECT(status_of(side), ACTIVE);
    copy_word(b, a, side);
    wait_for(side, join, main_stream);
    copy_word(c, b, main_stream);
    aclmdlRI model = end_well(main_stream, 7);
    EXPECT(status_of(side), NONE);
    run(model, main_stream);
    EXPECT(*c, 7);
}
