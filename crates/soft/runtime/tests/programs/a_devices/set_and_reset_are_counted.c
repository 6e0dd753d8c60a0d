/* SetDevice and ResetDevice are counted per device; Force ends all at once. */
#include "../check.h"

int main(void)
{
    int32_t device = -1, active = -1;
    uint32_t flags = 7;
    OK(aclInit(NULL));
    EXPECT(aclrtResetDevice(0), 507007);
    EXPECT(aclrtGetPrimaryCtxState(0, &flags, &active), ACL_ERROR_INVALID_PARAM);
    OK(aclrtGetPrimaryCtxState(0, NULL, &active));
    EXPECT(active, 0);
    OK(aclrtSetDevice(0));
    OK(aclrtSetDevice(0));
    OK(aclrtResetDevice(0));
    OK(aclrtGetDevice(&device));
    EXPECT(device, 0);
    OK(aclrtGetPrimaryCtxState(0, NULL, &active));
    EXPECT(active, 1);
    OK(aclrtResetDevice(0));
    EXPECT(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtResetDevice(0), 507007);
    OK(aclrtSetDevice(0));
    OK(aclrtSetDevice(0));
    OK(aclrtSetDevice(0));
    OK(aclrtResetDevice(0));
    OK(aclrtResetDeviceForce(0));
    EXPECT(aclrtResetDeviceForce(0), 507007);
    EXPECT(aclrtResetDevice(0), 507007);
    EXPECT(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    OK(aclrtSetDevice(0));
    OK(aclrtGetDevice(&device));
    return finish();
}
