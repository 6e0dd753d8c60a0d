/* What waits for or asks about a capturing stream is refused, and the capture goes on. */
#include "../capture.h"

int main(void)
{
    aclrtStreamStatus status;
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream(), other = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    SAY(aclmdlRICaptureBegin(s1, RELAXED), 0);
    wait_for(s1, fork, s2);
    SAY(aclrtSynchronizeStream(s1), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclrtSynchronizeStream(s2), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclrtSynchronizeStreamWithTimeout(s1, 10), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclrtStreamQuery(s2, &status), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclrtSynchronizeDevice(), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclrtSynchronizeDeviceWithTimeout(10), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclrtDestroyStream(s1), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclrtDestroyStreamForce(s2), ACL_ERROR_RT_STREAM_CAPTURED);
    SAY(aclrtSynchronizeStream(other), 0);
    SAY(aclrtSynchronizeStream(NULL), 0);
    wait_for(s2, join, s1);
    end_well(s1, 4);
    SAY(aclrtSynchronizeDevice(), 0);
    return finish();
}
