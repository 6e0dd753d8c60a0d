/* A capture depends on nothing outside: such a wait is refused, and the capture goes on. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream stream = new_stream(), outside = new_stream();
    aclrtEvent event = new_event(), unrecorded = new_event();
    SAY(aclrtRecordEvent(event, outside), 0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtStreamWaitEvent(stream, event), ACL_ERROR_RT_CAPTURE_DEPENDENCY);
    SAY(aclrtStreamWaitEvent(stream, unrecorded), 0);
    EXPECT(status_of(stream), ACTIVE);
    end_well(stream, 0);
    return finish();
}
