/* Two side streams wait for each other, none for the origin. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream(), s3 = new_stream();
    aclrtEvent fork = new_event(), last2 = new_event(), last3 = new_event(), first3 = new_event();
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    SAY(aclrtRecordEvent(fork, s1), 0);
    SAY(aclrtStreamWaitEvent(s2, fork), 0);
    SAY(aclrtStreamWaitEvent(s3, fork), 0);
    SAY(aclrtRecordEvent(first3, s3), 0);
    SAY(aclrtStreamWaitEvent(s2, first3), 0);
    SAY(aclrtRecordEvent(last2, s2), 0);
    SAY(aclrtStreamWaitEvent(s3, last2), 0);
    SAY(aclrtRecordEvent(last3, s3), 0);
    SAY(aclrtStreamWaitEvent(s3, last3), 0);
    end_badly(s1, ACL_ERROR_RT_STREAM_UNJOINED);
    return finish();
}
