/* A reset ends captures and graphs of the device; the next ones start afresh. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event();
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    aclmdlRI done = end_well(s1, 0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    SAY(aclrtResetDevice(0), 0);
    OK(aclrtSetDevice(0));
    aclrtStream stream = new_stream();
    SAY(aclmdlRIExecuteAsync(done, stream), ACL_ERROR_RT_INVALID_HANDLE);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtRecordEvent(fork, stream), 0);
    end_well(stream, 1);
    SAY(aclrtSynchronizeDevice(), 0);
    return finish();
}
