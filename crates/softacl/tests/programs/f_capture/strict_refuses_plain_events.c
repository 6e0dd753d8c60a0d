/* SOFTACL: strict */
#include "../capture.h"

int main(void)
{
    aclrtEvent plain, held;
    start();
    aclrtStream stream = new_stream();
    OK(aclrtCreateEvent(&plain));
    OK(aclrtCreateEventWithFlag(&held, ACL_EVENT_SYNC));
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtRecordEvent(plain, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtStreamWaitEvent(stream, plain), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtRecordEvent(held, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(status_of(stream), ACTIVE);
    end_well(stream, 0);
    return finish();
}
