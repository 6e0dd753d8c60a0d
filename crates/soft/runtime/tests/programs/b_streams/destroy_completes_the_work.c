/* Destroying a stream waits for its work; the handle is dead afterwards. */
#include "../check.h"

int main(void)
{
    aclrtStream stream, forced;
    aclrtEvent event;
    struct gate gate = {0, 0};
    int calls = 0;
    int32_t id;
    start();
    OK(aclrtCreateStream(&stream));
    for (int i = 0; i < 20; i++) {
        OK(aclrtLaunchHostFunc(stream, count_call, &calls));
    }
    OK(aclrtDestroyStream(stream));
    EXPECT(calls, 20);
    EXPECT(aclrtDestroyStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT(aclrtStreamGetId(stream, &id), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT(aclrtLaunchHostFunc(stream, count_call, &calls), ACL_ERROR_RT_INVALID_HANDLE);
    OK(aclrtCreateStream(&forced));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtLaunchHostFunc(forced, wait_at_gate, &gate));
    OK(aclrtLaunchHostFunc(forced, count_call, &calls));
    OK(aclrtRecordEvent(event, forced));
    for (int i = 0; i < 1000 && !__atomic_load_n(&gate.entered, __ATOMIC_SEQ_CST); i++) {
        sleep_ms(1);
    }
    OK(aclrtDestroyStreamForce(forced));
    OK(aclrtSynchronizeEvent(event));
    open_gate(&gate);
    sleep_ms(20);
    EXPECT(calls, 20);
    EXPECT(aclrtSynchronizeStream(forced), ACL_ERROR_RT_INVALID_HANDLE);
    return finish();
}
