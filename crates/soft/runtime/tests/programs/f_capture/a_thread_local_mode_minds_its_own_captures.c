/* A thread whose mode is THREAD_LOCAL is bound by its own captures only, even by a GLOBAL one. */
#include "../capture.h"

static uint64_t *a, *b;

static void *from_another_thread(void *data)
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

int main(void)
{
    aclmdlRICaptureMode mode = THREAD_LOCAL;
    start();
    aclrtStream stream = new_stream();
    a = new_word(0), b = new_word(1);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclmdlRICaptureThreadExchangeMode(&mode), 0);
    SAY(aclrtMemset(a, 8, 0, 8), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    in_thread(from_another_thread, NULL);
    end_well(stream, 0);
    return finish();
}
