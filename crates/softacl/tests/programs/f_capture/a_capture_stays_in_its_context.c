/* A stream of another context cannot be drawn into a capture. */
#include "../capture.h"

int main(void)
{
    aclrtContext own, other;
    start();
    aclrtStream stream = new_stream();
    aclrtEvent event = new_event();
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtRecordEvent(event, stream), 0);
    OK(aclrtGetCurrentContext(&own));
    OK(aclrtCreateContext(&other, 0));
    aclrtStream foreign = new_stream();
    SAY(aclrtStreamWaitEvent(foreign, event), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT(status_of(foreign), NONE);
    OK(aclrtSetCurrentContext(own));
    end_well(stream, 1);
    return finish();
}
