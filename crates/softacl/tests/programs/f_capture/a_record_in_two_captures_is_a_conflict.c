/* Recording an event of one capture in another one spoils both, too. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent event = new_event();
    SAY(aclmdlRICaptureBegin(s1, RELAXED), 0);
    SAY(aclmdlRICaptureBegin(s2, RELAXED), 0);
    SAY(aclrtRecordEvent(event, s1), 0);
    SAY(aclrtRecordEvent(event, s2), ACL_ERROR_STREAM_CAPTURE_CONFLICT);
    end_badly(s2, ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    EXPECT(status_of(s1), INVALIDATED);
    end_badly(s1, ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    return finish();
}
