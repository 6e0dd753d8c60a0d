/* A notify is one bit: a wait takes it back. */
#include "../check.h"

int main(void)
{
    aclrtNotify notify;
    aclrtStream first, second;
    uint32_t id = 99;
    start();
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
    OK(aclrtGetNotifyId(notify, &id));
    EXPECT(id, 0);
    OK(aclrtWaitAndResetNotify(notify, second, 0));
    EXPECT(aclrtSynchronizeStreamWithTimeout(second, 30), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    OK(aclrtRecordNotify(notify, first));
    OK(aclrtSynchronizeStream(second));
    OK(aclrtWaitAndResetNotify(notify, second, 1));
    EXPECT(aclrtSynchronizeStream(second), ACL_ERROR_RT_WAIT_TIMEOUT);
    OK(aclrtRecordNotify(notify, first));
    OK(aclrtRecordNotify(notify, first));
    OK(aclrtSynchronizeStream(first));
    OK(aclrtNotifyBatchReset(&notify, 1));
    OK(aclrtWaitAndResetNotify(notify, second, 1));
    EXPECT(aclrtSynchronizeStream(second), ACL_ERROR_RT_WAIT_TIMEOUT);
    EXPECT(aclrtNotifyBatchReset(NULL, 1), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtRecordNotify(NULL, first), ACL_ERROR_INVALID_PARAM);
    OK(aclrtDestroyNotify(notify));
    EXPECT(aclrtRecordNotify(notify, first), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT(aclrtCreateNotify(&notify, 2), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEVICE_USE_ONLY));
    EXPECT(aclrtRecordNotify(notify, first), ACL_ERROR_RT_PARAM_INVALID);
    return finish();
}
