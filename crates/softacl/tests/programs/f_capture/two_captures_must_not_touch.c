/* An event of one capture in another one: both are invalid, and say so at their end. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream(), s3 = new_stream();
    aclrtEvent event = new_event(), late = new_event();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    SAY(aclmdlRICaptureBegin(s2, GLOBAL), 0);
    SAY(aclrtRecordEvent(event, s1), 0);
    SAY(aclrtStreamWaitEvent(s2, event), ACL_ERROR_STREAM_CAPTURE_CONFLICT);
    EXPECT(status_of(s1), INVALIDATED);
    EXPECT(status_of(s2), INVALIDATED);
    SAY(aclrtValueWrite(word, 1, 0, s1), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    SAY(aclrtRecordEvent(late, s2), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    SAY(aclrtStreamWaitEvent(s1, event), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    SAY(aclrtStreamWaitEvent(s3, event), ACL_ERROR_RT_INTERNAL_ERROR);
    SAY(aclrtSynchronizeStream(s1), ACL_ERROR_RT_STREAM_CAPTURED);
    end_badly(s1, ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    end_badly(s2, ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    EXPECT(status_of(s1), NONE);
    return finish();
}
