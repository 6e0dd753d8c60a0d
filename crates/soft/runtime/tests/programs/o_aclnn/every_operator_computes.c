/* Each operator once, with results that are known. */
#include "../operators.h"
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_cast.h>
#include <aclnnop/aclnn_copy.h>
#include <aclnnop/aclnn_fill_scalar.h>
#include <aclnnop/aclnn_matmul.h>
#include <aclnnop/aclnn_mm.h>
#include <aclnnop/aclnn_mul.h>
#include <aclnnop/aclnn_one.h>
#include <aclnnop/aclnn_relu.h>
#include <aclnnop/aclnn_softmax.h>
#include <aclnnop/aclnn_zero.h>

static void *result;

static void expect(int line, float a, float b, float c, float d)
{
    float got[4], wanted[4] = {a, b, c, d};
    download(got, result, sizeof got);
    for (int i = 0; i < 4; i++) {
        if (got[i] != wanted[i]) {
            fprintf(stderr, "line %d, element %d: %g, not %g\n", line, i, got[i], wanted[i]);
            EXPECT(i, -1);
        }
    }
}

#define RESULT(...) expect(__LINE__, __VA_ARGS__)
#define MORE &workspace_size, &executor

int main(void)
{
    float values[4] = {1, -2, 3, -4}, row[2] = {10, 20};
    start();
    void *data = uploaded(values, 16), *side = uploaded(row, 8);
    result = device_memory(16);
    aclTensor *x = matrix_of(ACL_FLOAT, data, 2, 2), *r = vector_of(ACL_FLOAT, side, 2);
    aclTensor *y = matrix_of(ACL_FLOAT, result, 2, 2);
    aclScalar *two = scalar_of(2), *three = scalar_of(3);

    RUN(aclnnAdd, aclnnAddGetWorkspaceSize(x, r, two, y, MORE));
    RESULT(21, 38, 23, 36);
    RUN(aclnnInplaceAdd, aclnnInplaceAddGetWorkspaceSize(y, x, three, MORE));
    RESULT(24, 32, 32, 24);
    RUN(aclnnAdds, aclnnAddsGetWorkspaceSize(x, two, three, y, MORE));
    RESULT(7, 4, 9, 2);
    RUN(aclnnInplaceAdds, aclnnInplaceAddsGetWorkspaceSize(y, two, two, MORE));
    RESULT(11, 8, 13, 6);
    RUN(aclnnMul, aclnnMulGetWorkspaceSize(x, r, y, MORE));
    RESULT(10, -40, 30, -80);
    RUN(aclnnInplaceMul, aclnnInplaceMulGetWorkspaceSize(y, x, MORE));
    RESULT(10, 80, 90, 320);
    RUN(aclnnMuls, aclnnMulsGetWorkspaceSize(x, three, y, MORE));
    RESULT(3, -6, 9, -12);
    RUN(aclnnInplaceMuls, aclnnInplaceMulsGetWorkspaceSize(y, two, MORE));
    RESULT(6, -12, 18, -24);
    RUN(aclnnInplaceCopy, aclnnInplaceCopyGetWorkspaceSize(y, r, MORE));
    RESULT(10, 20, 10, 20);
    RUN(aclnnInplaceZero, aclnnInplaceZeroGetWorkspaceSize(y, MORE));
    RESULT(0, 0, 0, 0);
    RUN(aclnnInplaceOne, aclnnInplaceOneGetWorkspaceSize(y, MORE));
    RESULT(1, 1, 1, 1);
    RUN(aclnnInplaceFillScalar, aclnnInplaceFillScalarGetWorkspaceSize(y, three, MORE));
    RESULT(3, 3, 3, 3);
    RUN(aclnnMm, aclnnMmGetWorkspaceSize(x, x, y, 0, MORE));
    RESULT(-5, 6, -9, 10);
    int64_t batch[3] = {1, 2, 2};
    aclTensor *b = tensor_of(ACL_FLOAT, data, 3, batch), *c = tensor_of(ACL_FLOAT, result, 3, batch);
    RUN(aclnnMatmul, aclnnMatmulGetWorkspaceSize(b, x, c, 1, MORE));
    RESULT(-5, 6, -9, 10);
    RUN(aclnnRelu, aclnnReluGetWorkspaceSize(x, y, MORE));
    RESULT(1, 0, 3, 0);
    RUN(aclnnInplaceMuls, aclnnInplaceMulsGetWorkspaceSize(y, scalar_of(-1), MORE));
    RUN(aclnnInplaceRelu, aclnnInplaceReluGetWorkspaceSize(y, MORE));
    RESULT(0, 0, 0, 0);
    RUN(aclnnSoftmax, aclnnSoftmaxGetWorkspaceSize(y, -1, y, MORE));
    RESULT(0.5, 0.5, 0.5, 0.5);

    /* There and back through every type. */
    aclDataType types[5] = {ACL_FLOAT16, ACL_BF16, ACL_INT32, ACL_INT64, ACL_DOUBLE};
    void *between = device_memory(32);
    for (int i = 0; i < 5; i++) {
        aclTensor *t = matrix_of(types[i], between, 2, 2);
        RUN(aclnnCast, aclnnCastGetWorkspaceSize(x, types[i], t, MORE));
        RUN(aclnnInplaceZero, aclnnInplaceZeroGetWorkspaceSize(y, MORE));
        RUN(aclnnInplaceCopy, aclnnInplaceCopyGetWorkspaceSize(y, t, MORE));
        RESULT(1, -2, 3, -4);
        RUN(aclnnMul, aclnnMulGetWorkspaceSize(t, t, t, MORE));
        RUN(aclnnCast, aclnnCastGetWorkspaceSize(t, ACL_FLOAT, y, MORE));
        RESULT(1, 4, 9, 16);
    }
    return finish();
}
