/* With several captures the context is as strict as the strictest; other contexts are free. */
#include "../capture.h"

int main(void)
{
    aclrtContext own, other;
    start();
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
    return finish();
}
