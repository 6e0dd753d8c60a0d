/* The last record of a side stream must be waited for: an extra one spoils the join. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event(), join = new_event(), extra = new_event();
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    wait_for(s2, join, s1);
    SAY(aclrtRecordEvent(extra, s2), 0);
    end_badly(s1, ACL_ERROR_RT_STREAM_UNJOINED);
    return finish();
}
