/* Version and capability queries answer. */
#include "../check.h"

int main(void)
{
    int32_t major = 0, minor = 0, patch = -1, number = 0, value = -1;
    int64_t cores = 0;
    aclCANNPackageVersion version;
    const aclCannAttr *list = NULL;
    size_t count = 0;
    start();
    OK(aclrtGetVersion(&major, &minor, &patch));
    EXPECT(major, 1);
    EXPECT(minor, 17);
    EXPECT(aclrtGetVersion(NULL, &minor, &patch), ACL_ERROR_INVALID_PARAM);
    OK(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version));
    TRUE(version.majorVersion[0] == '9' && strchr(version.version, '.'));
    OK(aclsysGetVersionNum((char *)"runtime", &number));
    TRUE(number > 0);
    OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &cores));
    TRUE(cores > 0);
    EXPECT(aclrtGetDeviceInfo(9, ACL_DEV_ATTR_VECTOR_CORE_NUM, &cores), ACL_ERROR_RT_INVALID_DEVICEID);
    OK(aclGetCannAttributeList(&list, &count));
    TRUE(count > 0 && list != NULL);
    OK(aclGetCannAttribute(ACL_CANN_ATTR_BF16, &value));
    EXPECT(value, 1);
    EXPECT(aclDataTypeSize(ACL_FLOAT16), 2);
    EXPECT(aclDataTypeSize(ACL_DOUBLE), 8);
    aclDataBuffer *buffer = aclCreateDataBuffer(&cores, 8);
    TRUE(buffer && aclGetDataBufferAddr(buffer) == &cores && aclGetDataBufferSizeV2(buffer) == 8);
    OK(aclUpdateDataBuffer(buffer, &value, 4));
    EXPECT(aclGetDataBufferSizeV2(buffer), 4);
    OK(aclDestroyDataBuffer(buffer));
    return finish();
}
