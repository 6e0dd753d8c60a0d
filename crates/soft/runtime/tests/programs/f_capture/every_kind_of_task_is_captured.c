/* SOFTACL: chip=950 */
#include "../capture.h"

/* Copies, fills, reductions, kernels, callbacks, notifies, counters and values. */

static void *serves(void *data)
{
    while (!__atomic_load_n((int *)data, __ATOMIC_SEQ_CST)) {
        aclrtProcessReport(20);
    }
    return NULL;
}

int main(void)
{
    aclrtNotify notify;
    aclrtCntNotify counter;
    pthread_t thread;
    int over = 0;
    start();
    aclrtStream stream = new_stream();
    aclrtFuncHandle set = kernel(load_kernels(), "set");
    uint64_t *a = new_word(0), *b = new_word(0), *host;
    OK(aclrtMallocHost((void **)&host, 64));
    *host = 3;
    OK(aclrtCreateNotify(&notify, 0));
    OK(aclrtCntNotifyCreate(&counter, 0));
    EXPECT(pthread_create(&thread, NULL, serves, &over), 0);
    OK(aclrtSubscribeReport((uint64_t)thread, stream));
    aclrtCntNotifyRecordInfo add = {ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 2};
    aclrtCntNotifyWaitInfo until = {ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 2, 0, 1, {0}};
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtMemcpyAsync(a, 8, host, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream), 0);
    SAY(aclrtMemcpy2dAsync(b, 8, a, 8, 8, 1, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), 0);
    SAY(aclrtReduceAsync(b, a, 8, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, stream, NULL), 0);
    SAY(aclrtMemsetAsync(a, 8, 0, 8, stream), 0);
    SAY(launch(set, a, 11, stream), 0);
    SAY(launch(set, a, 12, stream), 0);
    SAY(aclrtLaunchCallback(add_one, b, ACL_CALLBACK_BLOCK, stream), 0);
    SAY(aclrtRecordNotify(notify, stream), 0);
    SAY(aclrtWaitAndResetNotify(notify, stream, 0), 0);
    SAY(aclrtCntNotifyRecord(counter, stream, &add), 0);
    SAY(aclrtCntNotifyWaitWithTimeout(counter, stream, &until), 0);
    SAY(aclrtValueWait(a, 12, 1, stream), 0);
    SAY(aclrtValueWrite(a, 13, 0, stream), 0);
    aclmdlRI model = end_well(stream, 13);
    for (int i = 0; i < 3; i++) {
        run(model, stream);
        EXPECT(*a, 13);
        EXPECT(*b, 7);
    }
    OK(aclrtUnSubscribeReport((uint64_t)thread, stream));
    __atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
    EXPECT(pthread_join(thread, NULL), 0);
    return finish();
}
