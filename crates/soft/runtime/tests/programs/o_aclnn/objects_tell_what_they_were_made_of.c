/* Tensors, arrays and lists answer questions; lists take their members along. */
#include "../operators.h"

int main(void)
{
    int64_t shape[3] = {2, 3, 4}, strides[3] = {20, 5, 1}, storage[2] = {10, 20}, offset = 0;
    int64_t *told = NULL;
    uint64_t count = 0;
    aclFormat format = ACL_FORMAT_UNDEFINED;
    aclDataType type = ACL_DT_UNDEFINED;
    void *address = NULL;
    start();
    OK(aclnnInit(NULL));
    aclTensor *x = aclCreateTensor(shape, 3, ACL_BF16, strides, 7, ACL_FORMAT_NCHW, storage, 2,
                                   storage);
    TRUE(x != NULL);
    OK(aclGetViewShape(x, &told, &count));
    TRUE(count == 3 && told && told[0] == 2 && told[1] == 3 && told[2] == 4);
    free(told);
    OK(aclGetViewStrides(x, &told, &count));
    TRUE(count == 3 && told && told[0] == 20 && told[1] == 5 && told[2] == 1);
    free(told);
    OK(aclGetStorageShape(x, &told, &count));
    TRUE(count == 2 && told && told[0] == 10 && told[1] == 20);
    free(told);
    OK(aclGetViewOffset(x, &offset));
    EXPECT(offset, 7);
    OK(aclGetFormat(x, &format));
    EXPECT(format, ACL_FORMAT_NCHW);
    OK(aclGetDataType(x, &type));
    EXPECT(type, ACL_BF16);
    OK(aclGetRawTensorAddr(x, &address));
    TRUE(address == storage);
    EXPECT(aclGetViewShape(NULL, &told, &count), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclGetViewShape(x, NULL, &count), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclGetFormat(x, NULL), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclGetDataType(NULL, &type), ACLNN_ERR_PARAM_NULLPTR);

    /* Made anew, and without strides. */
    OK(aclInitTensor(x, shape, 2, ACL_INT64, NULL, 1, ACL_FORMAT_ND, shape, 2, NULL));
    OK(aclGetViewStrides(x, &told, &count));
    TRUE(count == 2 && told && told[0] == 3 && told[1] == 1);
    free(told);
    OK(aclGetDataType(x, &type));
    EXPECT(type, ACL_INT64);
    EXPECT(aclInitTensor(NULL, shape, 2, ACL_INT64, NULL, 1, ACL_FORMAT_ND, shape, 2, NULL),
           ACLNN_ERR_PARAM_NULLPTR);

    float floats[2] = {1, 2};
    bool bools[3] = {true, false, true};
    aclIntArray *ints = aclCreateIntArray(shape, 3);
    aclFloatArray *reals = aclCreateFloatArray(floats, 2);
    aclBoolArray *flags = aclCreateBoolArray(bools, 3);
    TRUE(ints && reals && flags && aclCreateIntArray(NULL, 1) == NULL);
    OK(aclGetIntArraySize(ints, &count));
    EXPECT(count, 3);
    OK(aclGetFloatArraySize(reals, &count));
    EXPECT(count, 2);
    OK(aclGetBoolArraySize(flags, &count));
    EXPECT(count, 3);
    EXPECT(aclGetIntArraySize(NULL, &count), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclGetIntArraySize((aclIntArray *)reals, &count), ACLNN_ERR_PARAM_INVALID);
    OK(aclDestroyIntArray(ints));
    EXPECT(aclDestroyIntArray(ints), ACLNN_ERR_PARAM_INVALID);
    OK(aclDestroyFloatArray(reals));
    OK(aclDestroyBoolArray(flags));
    OK(aclDestroyBoolArray(NULL));

    aclTensor *y = vector_of(ACL_FLOAT, NULL, 1);
    const aclTensor *tensors[2] = {x, y};
    aclTensorList *list = aclCreateTensorList(tensors, 2);
    OK(aclGetTensorListSize(list, &count));
    EXPECT(count, 2);
    aclScalar *one = scalar_of(1);
    const aclScalar *scalars[1] = {one};
    aclScalarList *numbers = aclCreateScalarList(scalars, 1);
    OK(aclGetScalarListSize(numbers, &count));
    EXPECT(count, 1);
    OK(aclDestroyTensorList(list));
    EXPECT(aclDestroyTensor(x), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclGetDataType(y, &type), ACLNN_ERR_PARAM_INVALID);
    OK(aclDestroyScalarList(numbers));
    EXPECT(aclDestroyScalar(one), ACLNN_ERR_PARAM_INVALID);
    OK(aclDestroyTensor(NULL));
    OK(aclDestroyScalar(NULL));
    OK(aclnnFinalize());
    return finish();
}
