/* A task group's operator is exchanged for one with other tensors between replays. */
#include "../operators.h"
#include <aclnnop/aclnn_add.h>

int main(void)
{
    float ones[2] = {1, 1}, tens[2] = {10, 10}, got[2] = {0, 0};
    uint64_t size;
    aclOpExecutor *executor;
    aclrtStream stream, side;
    aclrtTaskGrp group = NULL;
    aclmdlRI model = NULL;
    start();
    void *a = uploaded(ones, 8), *b = uploaded(tens, 8), *sum = uploaded(ones, 8);
    aclTensor *x = vector_of(ACL_FLOAT, a, 2), *y = vector_of(ACL_FLOAT, b, 2);
    aclTensor *out = vector_of(ACL_FLOAT, sum, 2);
    aclScalar *one = scalar_of(1), *two = scalar_of(2);
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&side));

    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclmdlRICaptureTaskGrpBegin(stream));
    OK(aclnnAddGetWorkspaceSize(x, y, one, out, &size, &executor));
    OK(aclnnAdd(NULL, 0, executor, stream));
    OK(aclmdlRICaptureTaskGrpEnd(stream, &group));
    OK(aclmdlRICaptureEnd(stream, &model));
    OK(aclmdlRIExecuteAsync(model, stream));
    OK(aclrtSynchronizeStream(stream));
    download(got, sum, 8);
    TRUE(got[0] == 11 && got[1] == 11);

    OK(aclmdlRICaptureTaskUpdateBegin(side, group));
    OK(aclnnAddGetWorkspaceSize(y, y, two, out, &size, &executor));
    OK(aclnnAdd(NULL, 0, executor, side));
    OK(aclmdlRICaptureTaskUpdateEnd(side));
    OK(aclrtSynchronizeStream(side));
    OK(aclmdlRIExecuteAsync(model, stream));
    OK(aclrtSynchronizeStream(stream));
    download(got, sum, 8);
    TRUE(got[0] == 30 && got[1] == 30);
    OK(aclmdlRIDestroy(model));
    return finish();
}
