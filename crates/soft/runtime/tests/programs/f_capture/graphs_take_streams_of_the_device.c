/* SOFTACL: streams=7 */
#include "../capture.h"

/* Every stream of a capture takes a stream of the device until the graph is destroyed. */
int main(void)
{
    uint32_t left = 0;
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream(), s3 = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    OK(aclrtGetStreamAvailableNum(&left));
    EXPECT(left, 2);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    SAY(aclrtStreamWaitEvent(s3, fork), ACL_ERROR_RT_NO_STREAM_RESOURCE);
    EXPECT(status_of(s1), INVALIDATED);
    SAY(aclrtRecordEvent(join, s2), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    end_badly(s1, ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    OK(aclrtGetStreamAvailableNum(&left));
    EXPECT(left, 2);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    wait_for(s2, join, s1);
    aclmdlRI model = end_well(s1, 4);
    SAY(aclmdlRICaptureBegin(s3, GLOBAL), ACL_ERROR_RT_NO_STREAM_RESOURCE);
    EXPECT(status_of(s3), NONE);
    SAY(aclmdlRIDestroy(model), 0);
    OK(aclrtGetStreamAvailableNum(&left));
    EXPECT(left, 2);
    return finish();
}
