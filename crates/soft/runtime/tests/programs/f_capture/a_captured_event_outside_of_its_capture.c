/* A stream that does not capture may record a captured event: it executes the record itself. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream(), outside = new_stream();
    aclrtEvent event = new_event(), join = new_event();
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    SAY(aclrtRecordEvent(event, s1), 0);
    SAY(aclrtRecordEvent(event, outside), 0);
    EXPECT(status_of(outside), NONE);
    SAY(aclrtSynchronizeEvent(event), ACL_ERROR_RT_EVENT_CAPTURED);
    SAY(aclrtStreamWaitEvent(s2, event), 0);
    EXPECT(status_of(s2), ACTIVE);
    wait_for(s2, join, s1);
    end_well(s1, 4);
    SAY(aclrtSynchronizeEvent(event), 0);
    return finish();
}
