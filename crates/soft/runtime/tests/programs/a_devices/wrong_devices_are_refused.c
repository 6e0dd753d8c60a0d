/* Only the devices that are there can be set. */
#include "../check.h"

int main(void)
{
    uint32_t count = 0;
    int32_t device = -1;
    aclrtContext context;
    aclrtRunMode mode = ACL_DEVICE;
    OK(aclInit(NULL));
    OK(aclrtGetDeviceCount(&count));
    EXPECT(count, 2);
    EXPECT(aclrtSetDevice(2), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT(aclrtResetDevice(2), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT(aclrtCreateContext(&context, 9), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtGetDevice(NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtGetDeviceCount(NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclrtSetDevice(1));
    OK(aclrtGetDevice(&device));
    EXPECT(device, 1);
    OK(aclrtGetRunMode(&mode));
    EXPECT(mode, ACL_HOST);
    EXPECT(strncmp(aclrtGetSocName(), "Ascend910B", 10), 0);
    return finish();
}
