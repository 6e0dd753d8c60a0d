/* Only events of aclrtCreateEventExWithFlag can be captured: samples of 2025 did it with others. The capture goes on,
 * and whoever waits for such an event does not join. */
#include "../capture.h"

int main(void)
{
    aclrtEvent plain, held, recorded;
    aclrtEventStatus status;
    start();
    aclrtStream stream = new_stream(), side = new_stream();
    uint64_t *a = new_word(1), *b = new_word(0);
    OK(aclrtCreateEvent(&plain));
    OK(aclrtCreateEvent(&recorded));
    OK(aclrtCreateEventWithFlag(&held, ACL_EVENT_SYNC));
    OK(aclrtRecordEvent(recorded, stream));
    OK(aclrtSynchronizeStream(stream));
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtRecordEvent(plain, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtRecordEventWithFlag(plain, stream, ACL_EVENT_RECORD_DEFAULT), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtStreamWaitEvent(stream, plain), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtStreamWaitEvent(stream, recorded), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtResetEvent(plain, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtRecordEvent(held, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtStreamWaitEvent(stream, held), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtStreamWaitEvent(side, plain), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(status_of(stream), ACTIVE);
    EXPECT(status_of(side), NONE);
    /* No capture has them, so they may be asked. */
    SAY(aclrtQueryEvent(plain, &status), 0);
    EXPECT(status, ACL_EVENT_STATUS_COMPLETE);
    copy_word(b, a, stream);
    aclmdlRI model = end_well(stream, 1);
    *a = 44;
    run(model, stream);
    EXPECT(*b, 44);
    return finish();
}
