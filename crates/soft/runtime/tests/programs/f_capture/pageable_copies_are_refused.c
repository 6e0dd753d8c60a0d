/* An asynchronous copy that has to block: one code on the capturing stream, one on others. */
#include "../capture.h"

int main(void)
{
    static char pageable[64];
    start();
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
    return finish();
}
