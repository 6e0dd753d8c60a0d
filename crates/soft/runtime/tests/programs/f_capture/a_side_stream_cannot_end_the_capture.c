/* The stream that began has to end; the failed attempt changes nothing. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    end_badly(s2, ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED);
    EXPECT(status_of(s2), ACTIVE);
    wait_for(s2, join, s1);
    end_well(s1, 4);
    return finish();
}
