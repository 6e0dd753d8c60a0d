/* A stream of another context is drawn into a capture like any other. */
#include "../capture.h"

int main(void)
{
    aclrtContext own, other;
    start();
    aclrtStream stream = new_stream();
    aclrtEvent event = new_event(), back = new_event();
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtRecordEvent(event, stream), 0);
    OK(aclrtGetCurrentContext(&own));
    OK(aclrtCreateContext(&other, 0));
    aclrtStream foreign = new_stream();
    SAY(aclrtStreamWaitEvent(foreign, event), 0);
    EXPECT(status_of(foreign), ACTIVE);
    SAY(aclrtRecordEvent(back, foreign), 0);
    OK(aclrtSetCurrentContext(own));
    SAY(aclrtStreamWaitEvent(stream, back), 0);
    end_well(stream, 4);
    return finish();
}
