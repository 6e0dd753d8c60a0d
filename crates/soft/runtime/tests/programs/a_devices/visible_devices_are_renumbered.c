/* ASCEND_RT_VISIBLE_DEVICES selects devices and numbers them anew.
   SOFTACL: devices=4 */
#include "../check.h"

int main(void)
{
    uint32_t count = 0;
    int32_t physical = -1, user = -1;
    setenv("ASCEND_RT_VISIBLE_DEVICES", "1,3,9", 1);
    OK(aclInit(NULL));
    OK(aclrtGetDeviceCount(&count));
    EXPECT(count, 2);
    EXPECT(aclrtSetDevice(2), ACL_ERROR_RT_INVALID_DEVICEID);
    OK(aclrtSetDevice(1));
    OK(aclrtGetPhyDevIdByUserDevId(1, &physical));
    EXPECT(physical, 3);
    OK(aclrtGetUserDevIdByPhyDevId(1, &user));
    EXPECT(user, 0);
    EXPECT(aclrtGetUserDevIdByPhyDevId(2, &user), ACL_ERROR_RT_INVALID_DEVICEID);
    return finish();
}
