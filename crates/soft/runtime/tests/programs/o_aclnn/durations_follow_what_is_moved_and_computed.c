/* The time of an operator is computed from bytes and operations. */
/* SOFTACL: launch_ns=1000,d2d_mbps=10000000 */
#include "../operators.h"
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_mm.h>

static aclrtEvent begin, end;

/* Device time of the operator alone: the host keeps the stream waiting until all is submitted. */
static float milliseconds(aclnnStatus (*operator)(void *, uint64_t, aclOpExecutor *, aclrtStream),
                          aclOpExecutor *executor)
{
    struct gate gate = {0, 0};
    float ms = 0;
    OK(aclrtLaunchHostFunc(NULL, wait_at_gate, &gate));
    OK(aclrtRecordEvent(begin, NULL));
    OK(operator(NULL, 0, executor, NULL));
    OK(aclrtRecordEvent(end, NULL));
    /* Tasks begin no earlier than some microseconds after they were submitted. */
    sleep_ms(1);
    open_gate(&gate);
    OK(aclrtSynchronizeEvent(end));
    OK(aclrtEventElapsedTime(&ms, begin, end));
    return ms;
}

int main(void)
{
    enum { N = 1 << 18, M = 512 };
    uint64_t size;
    aclOpExecutor *executor;
    start();
    void *data = device_memory(N * 4);
    aclTensor *x = vector_of(ACL_FLOAT, data, N), *m = matrix_of(ACL_FLOAT, data, M, M);
    aclTensor *nothing = vector_of(ACL_FLOAT, data, 0);
    aclScalar *one = scalar_of(1);
    OK(aclrtCreateEventExWithFlag(&begin, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC));
    OK(aclrtCreateEventExWithFlag(&end, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC));

    /* Three tensors of 1 MiB at 10 TB/s, and the launch. */
    OK(aclnnAddGetWorkspaceSize(x, x, one, x, &size, &executor));
    float ms = milliseconds(aclnnAdd, executor);
    TRUE(ms > 0.00128f && ms < 0.00134f);

    /* 2 * 512^3 operations at 320 Tflop/s, or a quarter of that in 32 bits, take longer than their bytes. */
    void *other = device_memory(M * M * 4), *third = device_memory(M * M * 4);
    OK(aclrtMemset(data, M * M * 4, 0, M * M * 4));
    OK(aclrtMemset(other, M * M * 4, 0, M * M * 4));
    aclTensor *n = matrix_of(ACL_FLOAT, other, M, M), *p = matrix_of(ACL_FLOAT, third, M, M);
    OK(aclnnMmGetWorkspaceSize(m, n, p, 0, &size, &executor));
    ms = milliseconds(aclnnMm, executor);
    TRUE(ms > 0.00432f && ms < 0.00440f);

    OK(aclnnAddGetWorkspaceSize(nothing, nothing, one, nothing, &size, &executor));
    TRUE(milliseconds(aclnnAdd, executor) == 0);
    return finish();
}
