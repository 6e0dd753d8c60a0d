#include "../cases.h"

/* A notify is one bit: a wait takes it back. */
CASE(a_notify_is_consumed_by_its_wait)
{
    aclrtNotify notify;
    aclrtStream first, second;
    uint32_t id = 99;
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
}

/* A 910B has no counting notifies. */
CASE(counting_notifies_are_not_on_every_card)
{
    aclrtCntNotify notify = NULL;
    EXPECT(aclrtCntNotifyCreate(&notify, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    TRUE(notify == NULL);
}

/* A counting notify is changed and compared in the order of the streams.
   SOFTACL: chip=950 */
CASE(counting_notifies_compare)
{
    aclrtCntNotify notify;
    aclrtStream first, second;
    aclrtCntNotifyRecordInfo add = {ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 2};
    aclrtCntNotifyRecordInfo bad = {(aclrtCntNotifyRecordMode)9, 2};
    aclrtCntNotifyRecordInfo set = {ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, 6};
    aclrtCntNotifyWaitInfo five = {ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE, 5, 0, 0, {0}};
    aclrtCntNotifyWaitInfo bits = {ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE, 6, 0, 1, {0}};
    aclrtCntNotifyWaitInfo zero = {ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 0, 0, 0, {0}};
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
}

/* Notifies are limited per device.
   SOFTACL: notifies=2 */
CASE(notifies_run_out)
{
    aclrtNotify notifies[3];
    OK(aclrtCreateNotify(&notifies[0], ACL_NOTIFY_DEFAULT));
    OK(aclrtCreateNotify(&notifies[1], ACL_NOTIFY_DEFAULT));
    EXPECT(aclrtCreateNotify(&notifies[2], ACL_NOTIFY_DEFAULT), ACL_ERROR_RT_NO_NOTIFY_RESOURCE);
    OK(aclrtDestroyNotify(notifies[0]));
    OK(aclrtCreateNotify(&notifies[2], ACL_NOTIFY_DEFAULT));
}

/* A stream can wait for a number in device memory that another one writes. */
CASE(values_in_memory_are_awaited)
{
    aclrtStream first, second;
    uint64_t *number, *pinned, seen = 0;
    struct gate gate = {0, 0};
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtMalloc((void **)&number, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(number, 64, 0, 64));
    OK(aclrtValueWait(number, 10, ACL_STREAM_WAIT_VALUE_GEQ, second));
    EXPECT(aclrtSynchronizeStreamWithTimeout(second, 30), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    OK(aclrtLaunchHostFunc(first, wait_at_gate, &gate));
    OK(aclrtValueWrite(number, 11, 0, first));
    OK(aclrtMemcpy(&seen, 8, number, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(seen, 0);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(second));
    OK(aclrtMemcpy(&seen, 8, number, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(seen, 11);
    OK(aclrtValueWait(number, 2, ACL_STREAM_WAIT_VALUE_AND, second));
    OK(aclrtValueWait(number, 11, ACL_STREAM_WAIT_VALUE_EQ, second));
    OK(aclrtSynchronizeStream(second));
    OK(aclrtValueWait(number, 5, ACL_STREAM_WAIT_VALUE_EQ, second));
    seen = 5;
    OK(aclrtMemcpy(number, 8, &seen, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtSynchronizeStream(second));
    OK(aclrtValueWrite((char *)number + 12, 7, 0, first));
    OK(aclrtValueWait((char *)number + 12, 7, ACL_STREAM_WAIT_VALUE_EQ, second));
    OK(aclrtSynchronizeStream(second));
    OK(aclrtMallocHost((void **)&pinned, 64));
    EXPECT(aclrtValueWait(pinned, 1, 0, first), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtValueWrite(pinned, 1, 0, first), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtValueWrite(NULL, 1, 0, first), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtValueWait(number, 1, 4, first), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtValueWait(&seen, 1, 0, first), ACL_ERROR_RT_PARAM_INVALID);
}
