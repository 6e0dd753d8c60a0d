/* Seed 001: a thread relaxes its own mode around an unsafe call and gets the old mode back. */
#include "../capture.h"

int main(void)
{
    start();
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
    return finish();
}
