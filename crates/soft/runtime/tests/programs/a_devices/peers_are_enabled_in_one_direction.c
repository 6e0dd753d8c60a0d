/* Peer access can be asked for, enabled and disabled. */
#include "../check.h"

int main(void)
{
    int32_t can = -1, status = -1;
    start();
    OK(aclrtDeviceCanAccessPeer(&can, 0, 1));
    EXPECT(can, 1);
    EXPECT(aclrtDeviceCanAccessPeer(&can, 0, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT(can, 1);
    EXPECT(aclrtDeviceCanAccessPeer(NULL, 0, 1), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtDeviceCanAccessPeer(&can, 0, 5), ACL_ERROR_RT_INVALID_DEVICEID);
    OK(aclrtDeviceEnablePeerAccess(1, 0));
    EXPECT(aclrtDeviceEnablePeerAccess(0, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtDeviceEnablePeerAccess(1, 1), ACL_ERROR_FEATURE_UNSUPPORTED);
    EXPECT(aclrtDeviceDisablePeerAccess(0), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtDevicePeerAccessStatus(0, 1, NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclrtDevicePeerAccessStatus(0, 1, &status));
    EXPECT(status, 1);
    OK(aclrtDevicePeerAccessStatus(1, 0, &status));
    EXPECT(status, 0);
    OK(aclrtDeviceDisablePeerAccess(1));
    EXPECT(aclrtDeviceDisablePeerAccess(1), ACL_ERROR_RT_PARAM_INVALID);
    return finish();
}
