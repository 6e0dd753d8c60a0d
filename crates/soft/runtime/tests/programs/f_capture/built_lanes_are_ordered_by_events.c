/* On bound streams only events that the device keeps a flag of can be used; they order the lanes. */
#include "../capture.h"

int main(void)
{
    aclmdlRI model = NULL;
    aclrtStream first, second;
    aclrtEvent held, plain;
    start();
    aclrtStream stream = new_stream();
    aclrtEvent ex = new_event();
    uint64_t *a = new_word(0), *b = new_word(0);
    OK(aclrtCreateEventWithFlag(&held, ACL_EVENT_SYNC));
    OK(aclrtCreateEvent(&plain));
    OK(aclrtCreateStreamWithConfig(&first, 0, ACL_STREAM_PERSISTENT));
    OK(aclrtCreateStreamWithConfig(&second, 0, ACL_STREAM_PERSISTENT));
    SAY(aclmdlRIBuildBegin(&model, 0), 0);
    SAY(aclmdlRIBindStream(model, first, ACL_MODEL_STREAM_FLAG_HEAD), 0);
    SAY(aclmdlRIBindStream(model, second, ACL_MODEL_STREAM_FLAG_HEAD), 0);
    SAY(aclrtRecordEvent(plain, first), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtRecordEvent(ex, first), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtStreamWaitEvent(second, ex), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    SAY(aclrtStreamWaitEvent(first, held), 0);
    SAY(aclrtResetEvent(held, first), 0);
    copy_word(b, a, first);
    SAY(aclmdlRIEndTask(model, first), 0);
    SAY(aclrtLaunchHostFunc(second, add_one, a), 0);
    SAY(aclrtRecordEvent(held, second), 0);
    SAY(aclmdlRIBuildEnd(model, NULL), 0);
    EXPECT(show(model), 5);
    for (int i = 1; i <= 3; i++) {
        run(model, stream);
        EXPECT(*b, i);
    }
    return finish();
}
