/* Begins and ends of captures. */
#include "../capture.h"
#include "../cases.h"

/* A reset ends captures and graphs of the device; the next ones start afresh. */
CASE(a_capture_ends_with_its_device)
{
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event();
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    aclmdlRI done = end_well(s1, 0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    SAY(aclrtResetDevice(0), 0);
    OK(aclrtSetDevice(0));
    aclrtStream stream = new_stream();
    SAY(aclmdlRIExecuteAsync(done, stream), ACL_ERROR_RT_INVALID_HANDLE);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtRecordEvent(fork, stream), 0);
    end_well(stream, 1);
    SAY(aclrtSynchronizeDevice(), 0);
}

/* A stream of another context is drawn into a capture like any other. */
CASE(a_capture_reaches_another_context)
{
    aclrtContext own, other;
    aclrtStream stream = new_stream();
    aclrtEvent event = new_event(), back = new_event();
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtRecordEvent(event, stream), 0);
    OK(aclrtGetCurrentContext(&own));
    OK(aclrtCreateContext(&other, 0));
    aclrtStream foreign = new_stream();
    SAY(aclrtStreamWaitEvent(foreign, event), 0);
    EXPECT(status_of(foreign), ACTIVE);
    SAY(aclrtRecordEvent(back, foreign), 0);
    OK(aclrtSetCurrentContext(own));
    SAY(aclrtStreamWaitEvent(stream, back), 0);
    end_well(stream, 4);
}

/* After a capture, good or bad, its streams execute tasks again and events are ordinary. */
CASE(a_capturing_stream_is_free_again_after_its_end)
{
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent event = new_event();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, event, s2);
    end_badly(s1, ACL_ERROR_RT_STREAM_UNJOINED);
    SAY(aclrtLaunchHostFunc(s1, add_one, word), 0);
    wait_for(s1, event, s2);
    SAY(aclrtLaunchHostFunc(s2, add_one, word), 0);
    SAY(aclrtSynchronizeStream(s2), 0);
    EXPECT(*word, 2);
    SAY(aclrtSynchronizeEvent(event), 0);
    SAY(aclrtDestroyStream(s1), 0);
}

/* The stream that began has to end; the failed attempt changes nothing. */
CASE(a_side_stream_cannot_end_the_capture)
{
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    end_badly(s2, ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED);
    EXPECT(status_of(s2), ACTIVE);
    wait_for(s2, join, s1);
    end_well(s1, 4);
}

static aclrtStream stream;

static void *ends(void *code)
{
    OK(aclrtSetDevice(0));
    end_badly(stream, *(aclError *)code);
    OK(aclrtResetDevice(0));
    return NULL;
}

/* GLOBAL and THREAD_LOCAL captures end in their thread; the attempt elsewhere ends them badly. */
CASE(another_thread_cannot_end)
{
    aclError wrong = ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD;
    stream = new_stream();
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    in_thread(ends, &wrong);
    EXPECT(status_of(stream), NONE);
    end_badly(stream, ACL_ERROR_RT_STREAM_NOT_CAPTURED);
    SAY(aclmdlRICaptureBegin(stream, THREAD_LOCAL), 0);
    in_thread(ends, &wrong);
    end_badly(stream, ACL_ERROR_RT_STREAM_NOT_CAPTURED);
}

static aclmdlRI model;
static uint64_t *word;

static void *fills_and_ends(void *data)
{
    (void)data;
    OK(aclrtSetDevice(0));
    set_word(word, 4, stream);
    model = end_well(stream, 1);
    OK(aclrtResetDevice(0));
    return NULL;
}

/* A RELAXED capture may be filled and ended by any thread of the context. */
CASE(another_thread_ends_a_relaxed_capture)
{
    stream = new_stream();
    word = new_word(0);
    SAY(aclmdlRICaptureBegin(stream, RELAXED), 0);
    in_thread(fills_and_ends, NULL);
    run(model, stream);
    EXPECT(*word, 4);
}

/* A capture begins on an explicit stream of the current context that can be captured. */
CASE(begin_checks_its_stream)
{
    aclrtStream stream = new_stream(), scheduled, own, foreign;
    aclrtContext before, context;
    OK(aclrtCreateStreamWithConfig(&scheduled, 0, ACL_STREAM_DEVICE_USE_ONLY));
    OK(aclrtCtxGetCurrentDefaultStream(&own));
    SAY(aclmdlRICaptureBegin(NULL, GLOBAL), ACL_ERROR_INVALID_PARAM);
    SAY(aclmdlRICaptureBegin(stream, (aclmdlRICaptureMode)3), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRICaptureBegin(scheduled, GLOBAL), ACL_ERROR_RT_INTERNAL_ERROR);
    SAY(aclmdlRICaptureBegin(own, GLOBAL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclrtGetCurrentContext(&before));
    OK(aclrtCreateContext(&context, 0));
    foreign = stream;
    SAY(aclmdlRICaptureBegin(foreign, GLOBAL), ACL_ERROR_RT_STREAM_CONTEXT);
    OK(aclrtSetCurrentContext(before));
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclmdlRICaptureBegin(stream, RELAXED), ACL_ERROR_RT_STREAM_CAPTURED);
    end_well(stream, 0);
}

/* End needs a begin, a stream and room for the result. */
CASE(ending_without_a_capture_is_an_error)
{
    aclrtStream stream = new_stream();
    aclmdlRI model;
    end_badly(stream, ACL_ERROR_RT_STREAM_NOT_CAPTURED);
    SAY(aclmdlRICaptureEnd(NULL, &model), ACL_ERROR_INVALID_PARAM);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclmdlRICaptureEnd(stream, NULL), ACL_ERROR_RT_PARAM_INVALID);
    end_well(stream, 0);
    end_badly(stream, ACL_ERROR_RT_STREAM_NOT_CAPTURED);
}

static void *without(void *data)
{
    aclmdlRICaptureMode mode = RELAXED;
    SAY(aclmdlRICaptureBegin(data, GLOBAL), ACL_ERROR_RT_CONTEXT_NULL);
    SAY(aclmdlRICaptureThreadExchangeMode(&mode), ACL_ERROR_RT_CONTEXT_NULL);
    return NULL;
}

/* Captures need a context, as everything does. */
CASE(nothing_is_captured_without_a_device)
{
    aclrtStream stream = new_stream();
    in_thread(without, stream);
    EXPECT(status_of(stream), NONE);
}

/* Captures that do not touch are independent, whatever the order of their ends. */
CASE(several_captures_at_once)
{
    aclrtStream s[3];
    aclmdlRI model[3];
    uint64_t *word[3];
    for (int i = 0; i < 3; i++) {
        s[i] = new_stream();
        word[i] = new_word(0);
        SAY(aclmdlRICaptureBegin(s[i], (aclmdlRICaptureMode)i), 0);
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) {
            SAY(aclrtLaunchHostFunc(s[i], add_one, word[i]), 0);
        }
    }
    for (int i = 2; i >= 0; i--) {
        model[i] = end_well(s[i], 2);
    }
    for (int i = 0; i < 3; i++) {
        run(model[i], s[0]);
        EXPECT(*word[i], 2);
    }
}

/* Other streams execute their tasks while one captures. */
CASE(the_default_stream_works_beside_a_capture)
{
    aclrtStream stream = new_stream(), other = new_stream();
    uint64_t *a = new_word(0), *b = new_word(0), *c = new_word(0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    set_word(a, 1, stream);
    set_word(b, 2, NULL);
    set_word(c, 3, other);
    SAY(aclrtSynchronizeStream(NULL), 0);
    SAY(aclrtSynchronizeStream(other), 0);
    EXPECT(*a, 0);
    EXPECT(*b, 2);
    EXPECT(*c, 3);
    end_well(stream, 1);
}

/* GetInfo answers at any time, for origin and side streams, and names the same graph. */
CASE(the_state_of_a_capture_can_be_asked)
{
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    aclmdlRICaptureStatus status;
    aclmdlRI first = NULL, second = s1, ended;
    SAY(aclmdlRICaptureGetInfo(s1, &status, &second), 0);
    EXPECT(status, NONE);
    TRUE(second == NULL);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    SAY(aclmdlRICaptureGetInfo(s1, &status, &first), 0);
    EXPECT(status, ACTIVE);
    wait_for(s1, fork, s2);
    SAY(aclmdlRICaptureGetInfo(s2, NULL, &second), 0);
    TRUE(first != NULL && first == second);
    SAY(aclmdlRICaptureGetInfo(s2, NULL, NULL), ACL_ERROR_INVALID_PARAM);
    SAY(aclmdlRICaptureGetInfo(NULL, &status, NULL), ACL_ERROR_INVALID_PARAM);
    wait_for(s2, join, s1);
    SAY(aclmdlRICaptureEnd(s1, &ended), 0);
    TRUE(ended == first);
}

enum { THREADS = 4 };
static aclmdlRI models[THREADS];
static aclrtStream streams[THREADS];
static uint64_t *words[THREADS];
static aclError codes[THREADS];

static void *captures(void *data)
{
    int own = (int)(intptr_t)data;
    codes[own] |= aclrtSetDevice(0);
    codes[own] |= aclmdlRICaptureBegin(streams[own], THREAD_LOCAL);
    for (int i = 0; i <= own; i++) {
        codes[own] |= aclrtLaunchHostFunc(streams[own], add_one, words[own]);
    }
    codes[own] |= aclmdlRICaptureEnd(streams[own], &models[own]);
    codes[own] |= aclrtResetDevice(0);
    return NULL;
}

/* Four threads capture on streams of their own; each gets what it submitted. */
CASE(threads_capture_at_the_same_time)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        streams[i] = new_stream();
        words[i] = new_word(0);
    }
    for (int i = 0; i < THREADS; i++) {
        EXPECT(pthread_create(&threads[i], NULL, captures, (void *)(intptr_t)i), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        EXPECT(pthread_join(threads[i], NULL), 0);
        EXPECT(codes[i], 0);
    }
    for (int i = 0; i < THREADS; i++) {
        EXPECT(show(models[i]), i + 1);
        run(models[i], streams[i]);
        EXPECT(*words[i], i + 1);
    }
}

/* A wait for an event of another capture spoils both; they go on, and only their ends say so. */
CASE(two_captures_must_not_touch)
{
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent event = new_event(), late = new_event();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    SAY(aclmdlRICaptureBegin(s2, GLOBAL), 0);
    SAY(aclrtRecordEvent(event, s1), 0);
    SAY(aclrtStreamWaitEvent(s2, event), ACL_ERROR_STREAM_CAPTURE_CONFLICT);
    EXPECT(status_of(s1), ACTIVE);
    EXPECT(status_of(s2), ACTIVE);
    SAY(aclrtValueWrite(word, 1, 0, s1), 0);
    SAY(aclrtRecordEvent(late, s2), 0);
    SAY(aclrtSynchronizeStream(s1), ACL_ERROR_RT_STREAM_CAPTURED);
    end_badly(s1, ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    end_badly(s2, ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    EXPECT(status_of(s1), NONE);
}
