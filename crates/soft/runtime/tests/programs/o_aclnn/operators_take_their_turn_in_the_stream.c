/* Tensors are read when the task runs, not when it is submitted. */
#include "../operators.h"
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_mul.h>

int main(void)
{
    enum { N = 1000 };
    float *host;
    uint64_t size;
    aclOpExecutor *add, *mul;
    aclrtStream stream, other;
    aclrtEvent event;
    start();
    OK(aclrtMallocHost((void **)&host, N * 4));
    for (int i = 0; i < N; i++) {
        host[i] = (float)i;
    }
    void *x = device_memory(N * 4), *y = device_memory(N * 4);
    OK(aclrtMemset(x, N * 4, 0, N * 4));
    OK(aclrtMemset(y, N * 4, 0, N * 4));
    aclTensor *tx = vector_of(ACL_FLOAT, x, N), *ty = vector_of(ACL_FLOAT, y, N);
    aclScalar *two = scalar_of(2);
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclnnAddGetWorkspaceSize(ty, tx, two, ty, &size, &add));
    OK(aclnnMulGetWorkspaceSize(ty, tx, ty, &size, &mul));

    struct gate gate = {0, 0};
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    OK(aclrtMemcpyAsync(x, N * 4, host, N * 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclnnAdd(NULL, 0, add, stream));
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtStreamWaitEvent(other, event));
    OK(aclnnMul(NULL, 0, mul, other));
    /* Tensors and scalars may go before the task runs. */
    OK(aclDestroyTensor(tx));
    OK(aclDestroyTensor(ty));
    OK(aclDestroyScalar(two));
    host[1] = 100;
    float early[2] = {1, 1};
    download(early, y, sizeof early);
    TRUE(early[0] == 0 && early[1] == 0);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(other));
    OK(aclrtMemcpy(host, N * 4, y, N * 4, ACL_MEMCPY_DEVICE_TO_HOST));
    TRUE(host[1] == 20000);
    for (int i = 2; i < N; i++) {
        if (host[i] != 2.0f * (float)i * (float)i) {
            EXPECT(i, -1);
        }
    }
    return finish();
}
