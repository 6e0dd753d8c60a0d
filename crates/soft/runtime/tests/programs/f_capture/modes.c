/* What the modes of a capture forbid. */
#include "../capture.h"
#include "../cases.h"

static uint64_t *a, *b;

static void *fill_in_another_thread(void *data)
{
    aclmdlRICaptureMode mode = THREAD_LOCAL;
    (void)data;
    OK(aclrtSetDevice(0));
    SAY(aclrtMemset(a, 8, 0, 8), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    SAY(aclmdlRICaptureThreadExchangeMode(&mode), 0);
    SAY(aclrtMemset(a, 8, 0, 8), 0);
    OK(aclrtResetDevice(0));
    return NULL;
}

/* A thread whose mode is THREAD_LOCAL is bound by its own captures only, even by a GLOBAL one. */
CASE(a_thread_local_mode_minds_its_own_captures)
{
    aclmdlRICaptureMode mode = THREAD_LOCAL;
    aclrtStream stream = new_stream();
    a = new_word(0), b = new_word(1);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclmdlRICaptureThreadExchangeMode(&mode), 0);
    SAY(aclrtMemset(a, 8, 0, 8), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    in_thread(fill_in_another_thread, NULL);
    end_well(stream, 0);
}

/* Seed 001: a thread relaxes its own mode around an unsafe call and gets the old mode back. */
CASE(a_thread_may_exchange_its_mode)
{
    aclrtStream stream = new_stream();
    uint64_t *a = new_word(0), *b = new_word(1);
    aclmdlRICaptureMode mode = RELAXED, wrong = (aclmdlRICaptureMode)7;
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclmdlRICaptureThreadExchangeMode(&mode), 0);
    EXPECT(mode, GLOBAL);
    SAY(aclrtMemcpy(a, 8, b, 8, ACL_MEMCPY_DEVICE_TO_DEVICE), 0);
    SAY(aclmdlRICaptureThreadExchangeMode(&mode), 0);
    EXPECT(mode, RELAXED);
    SAY(aclrtMemcpy(a, 8, b, 8, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    SAY(aclmdlRICaptureThreadExchangeMode(&wrong), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRICaptureThreadExchangeMode(NULL), ACL_ERROR_INVALID_PARAM);
    end_well(stream, 0);
}

/* A copy has this code. */
static void *copy_in_another_thread(void *code)
{
    OK(aclrtSetDevice(0));
    SAY(aclrtMemcpy(a, 8, b, 8, ACL_MEMCPY_DEVICE_TO_DEVICE), (aclError)(intptr_t)code);
    OK(aclrtResetDevice(0));
    return NULL;
}

/* While a GLOBAL capture runs, no thread of the context may copy or fill synchronously. */
CASE(global_mode_forbids_blocking_everywhere)
{
    void *memory;
    aclrtStream stream = new_stream();
    a = new_word(0), b = new_word(1);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtMemcpy(a, 8, b, 8, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    SAY(aclrtMemset(a, 8, 1, 8), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    SAY(aclrtMemcpy2d(a, 8, b, 8, 8, 1, ACL_MEMCPY_DEFAULT), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    in_thread(copy_in_another_thread, (void *)(intptr_t)ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    SAY(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    SAY(aclrtFree(memory), 0);
    EXPECT(*a, 0);
    EXPECT(status_of(stream), ACTIVE);
    end_well(stream, 0);
    SAY(aclrtMemcpy(a, 8, b, 8, ACL_MEMCPY_DEVICE_TO_DEVICE), 0);
    EXPECT(*a, 1);
}

/* An asynchronous copy that has to block: one code on the capturing stream, one on others. */
CASE(pageable_copies_are_refused)
{
    static char pageable[64];
    aclrtStream stream = new_stream(), other = new_stream();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtMemcpyAsync(word, 8, pageable, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclrtMemcpy2dAsync(word, 8, pageable, 8, 8, 1, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclrtMemcpyAsync(word, 8, pageable, 8, ACL_MEMCPY_HOST_TO_DEVICE, other), ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC);
    EXPECT(status_of(stream), ACTIVE);
    end_well(stream, 0);
    SAY(aclmdlRICaptureBegin(stream, RELAXED), 0);
    SAY(aclrtMemcpyAsync(word, 8, pageable, 8, ACL_MEMCPY_HOST_TO_DEVICE, other), 0);
    SAY(aclrtMemcpyAsync(word, 8, pageable, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_ERROR_RT_PARAM_INVALID);
    end_well(stream, 0);
}

/* During a RELAXED capture every thread may block, and what it does is not captured. */
CASE(relaxed_mode_forbids_nothing)
{
    aclrtStream stream = new_stream();
    uint64_t *a = new_word(0), *b = new_word(1);
    SAY(aclmdlRICaptureBegin(stream, RELAXED), 0);
    SAY(aclrtMemcpy(a, 8, b, 8, ACL_MEMCPY_DEVICE_TO_DEVICE), 0);
    EXPECT(*a, 1);
    SAY(aclrtMemset(b, 8, 0, 8), 0);
    end_well(stream, 0);
}

/* What waits for or asks about a capturing stream is refused, and the capture goes on. */
CASE(synchronising_is_refused)
{
    aclrtStreamStatus status;
    aclrtStream s1 = new_stream(), s2 = new_stream(), other = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    SAY(aclmdlRICaptureBegin(s1, RELAXED), 0);
    wait_for(s1, fork, s2);
    SAY(aclrtSynchronizeStream(s1), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclrtSynchronizeStream(s2), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclrtSynchronizeStreamWithTimeout(s1, 10), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclrtStreamQuery(s2, &status), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclrtSynchronizeDevice(), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclrtSynchronizeDeviceWithTimeout(10), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclrtDestroyStream(s1), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclrtDestroyStreamForce(s2), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclrtSynchronizeStream(other), 0);
    SAY(aclrtSynchronizeStream(NULL), 0);
    wait_for(s2, join, s1);
    end_well(s1, 4);
    SAY(aclrtSynchronizeDevice(), 0);
}

/* With several captures the context is as strict as the strictest; other contexts are free. */
CASE(the_strictest_capture_counts)
{
    aclrtContext own, other;
    aclrtStream relaxed = new_stream(), global = new_stream();
    uint64_t *a = new_word(0), *b = new_word(1);
    SAY(aclmdlRICaptureBegin(relaxed, RELAXED), 0);
    SAY(aclrtMemset(a, 8, 0, 8), 0);
    SAY(aclmdlRICaptureBegin(global, GLOBAL), 0);
    SAY(aclrtMemset(a, 8, 0, 8), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    OK(aclrtGetCurrentContext(&own));
    OK(aclrtCreateContext(&other, 0));
    SAY(aclrtMemcpy(a, 8, b, 8, ACL_MEMCPY_DEVICE_TO_DEVICE), 0);
    SAY(aclrtSynchronizeDevice(), 0);
    OK(aclrtSetCurrentContext(own));
    end_well(global, 0);
    SAY(aclrtMemset(a, 8, 0, 8), 0);
    end_well(relaxed, 0);
}

/* A THREAD_LOCAL capture binds the thread that began it, and no other. */
CASE(thread_local_mode_forbids_blocking_in_its_thread)
{
    aclrtStream stream = new_stream();
    a = new_word(0), b = new_word(1);
    SAY(aclmdlRICaptureBegin(stream, THREAD_LOCAL), 0);
    SAY(aclrtMemcpy(a, 8, b, 8, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    SAY(aclrtMemset(a, 8, 1, 8), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    in_thread(copy_in_another_thread, NULL);
    EXPECT(*a, 1);
    end_well(stream, 0);
}
