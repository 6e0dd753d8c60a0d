/* A side stream whose last task is an external record has not come back. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    SAY(aclrtRecordEventWithFlag(join, s2, ACL_EVENT_RECORD_EXTERNAL), 0);
    end_badly(s1, ACL_ERROR_RT_STREAM_UNJOINED);
    return finish();
}
