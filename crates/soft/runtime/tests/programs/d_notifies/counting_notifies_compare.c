/* A counting notify is changed and compared in the order of the streams.
   SOFTACL: chip=950 */
#include "../check.h"

int main(void)
{
    aclrtCntNotify notify;
    aclrtStream first, second;
    aclrtCntNotifyRecordInfo add = {ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 2};
    aclrtCntNotifyRecordInfo bad = {(aclrtCntNotifyRecordMode)9, 2};
    aclrtCntNotifyRecordInfo set = {ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, 6};
    aclrtCntNotifyWaitInfo five = {ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE, 5, 0, 0, {0}};
    aclrtCntNotifyWaitInfo bits = {ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE, 6, 0, 1, {0}};
    aclrtCntNotifyWaitInfo zero = {ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 0, 0, 0, {0}};
    start();
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtCntNotifyCreate(&notify, 0));
    OK(aclrtCntNotifyWaitWithTimeout(notify, second, &five));
    OK(aclrtCntNotifyRecord(notify, first, &add));
    OK(aclrtCntNotifyRecord(notify, first, &add));
    EXPECT(aclrtSynchronizeStreamWithTimeout(second, 30), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    OK(aclrtCntNotifyRecord(notify, first, &add));
    OK(aclrtSynchronizeStream(second));
    OK(aclrtCntNotifyRecord(notify, first, &set));
    OK(aclrtCntNotifyWaitWithTimeout(notify, first, &bits));
    OK(aclrtCntNotifyWaitWithTimeout(notify, first, &zero));
    OK(aclrtSynchronizeStream(first));
    OK(aclrtCntNotifyRecord(notify, first, &set));
    OK(aclrtCntNotifyReset(notify, first));
    OK(aclrtCntNotifyWaitWithTimeout(notify, first, &zero));
    OK(aclrtSynchronizeStream(first));
    EXPECT(aclrtCntNotifyRecord(notify, first, &bad), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtCntNotifyRecord(notify, first, NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclrtCntNotifyDestroy(notify));
    EXPECT(aclrtCntNotifyReset(notify, first), ACL_ERROR_RT_INVALID_HANDLE);
    return finish();
}
