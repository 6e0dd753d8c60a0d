/* A wait for an event of another capture spoils both; they go on, and only their ends say so. */
#include "../capture.h"

int main(void)
{
    start();
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
    return finish();
}
