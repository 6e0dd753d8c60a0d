/* A wait that would draw the default stream into a capture is refused; a record there is a plain one. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream stream = new_stream(), own;
    aclrtEvent event = new_event();
    OK(aclrtCtxGetCurrentDefaultStream(&own));
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtRecordEvent(event, stream), 0);
    SAY(aclrtStreamWaitEvent(NULL, event), ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT);
    SAY(aclrtStreamWaitEvent(own, event), ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT);
    SAY(aclrtRecordEvent(event, NULL), 0);
    EXPECT(status_of(stream), ACTIVE);
    end_well(stream, 1);
    return finish();
}
