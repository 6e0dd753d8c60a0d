/* 16-bit products are summed in 32 bits, which takes room; what the program gives is checked. */
#include "../operators.h"
#include <aclnnop/aclnn_mm.h>
#include <aclnnop/aclnn_softmax.h>

static aclTensor *x, *out;
static uint64_t size;

static aclOpExecutor *made(void)
{
    aclOpExecutor *executor = NULL;
    OK(aclnnMmGetWorkspaceSize(x, x, out, 0, &size, &executor));
    return executor;
}

int main(void)
{
    enum { N = 16 };
    aclFloat16 host[N * N];
    start();
    for (int i = 0; i < N * N; i++) {
        host[i] = aclFloatToFloat16((float)(i % 5));
    }
    void *data = uploaded(host, sizeof host), *result = device_memory(sizeof host);
    x = matrix_of(ACL_FLOAT16, data, N, N);
    out = matrix_of(ACL_FLOAT16, result, N, N);
    aclOpExecutor *executor = made();
    TRUE(size >= 3 * N * N * sizeof(float));
    char *workspace = device_memory(size + 64);
    EXPECT(aclnnMm(workspace, size - 1, executor, NULL), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnMm(workspace, 0, made(), NULL), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnMm(NULL, size, made(), NULL), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclnnMm(workspace + 1, size, made(), NULL), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnMm(workspace + 128, size, made(), NULL), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnMm(host, size, made(), NULL), ACLNN_ERR_PARAM_INVALID);
    OK(aclrtMemset(workspace, size + 64, 0x5a, size + 64));
    OK(aclnnMm(workspace, size, made(), NULL));
    OK(aclrtSynchronizeStream(NULL));
    aclFloat16 got[N * N];
    download(got, result, sizeof got);
    for (int row = 0; row < N; row++) {
        for (int column = 0; column < N; column++) {
            float sum = 0;
            for (int i = 0; i < N; i++) {
                sum += (float)((row * N + i) % 5 * ((i * N + column) % 5));
            }
            if (aclFloat16ToFloat(got[row * N + column]) != sum) {
                EXPECT(row * N + column, -1);
            }
        }
    }
    /* Nothing is written behind the workspace. */
    unsigned char behind[64];
    download(behind, workspace + size, 64);
    TRUE(behind[0] == 0x5a && behind[63] == 0x5a);

    aclTensor *wide = matrix_of(ACL_FLOAT, workspace, 4, 4);
    OK(aclnnMmGetWorkspaceSize(wide, wide, wide, 0, &size, &executor));
    EXPECT(size, 0);
    OK(aclDestroyAclOpExecutor(executor));
    OK(aclnnSoftmaxGetWorkspaceSize(x, 0, out, &size, &executor));
    TRUE(size >= N * sizeof(float));
    EXPECT(aclnnSoftmax(NULL, 0, executor, NULL), ACLNN_ERR_PARAM_INVALID);
    return finish();
}
