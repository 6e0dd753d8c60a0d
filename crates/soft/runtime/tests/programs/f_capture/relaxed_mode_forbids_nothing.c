/* During a RELAXED capture every thread may block, and what it does is not captured. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream stream = new_stream();
    uint64_t *a = new_word(0), *b = new_word(1);
    SAY(aclmdlRICaptureBegin(stream, RELAXED), 0);
    SAY(aclrtMemcpy(a, 8, b, 8, ACL_MEMCPY_DEVICE_TO_DEVICE), 0);
    EXPECT(*a, 1);
    SAY(aclrtMemset(b, 8, 0, 8), 0);
    end_well(stream, 0);
    return finish();
}
