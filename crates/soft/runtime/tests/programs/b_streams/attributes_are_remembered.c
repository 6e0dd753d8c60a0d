/* Attributes and limits of a stream read back what was set. */
#include "../check.h"

int main(void)
{
    aclrtStream stream;
    aclrtStreamAttrValue value = {0};
    uint32_t flag = 9, cores = 0, all = 0;
    start();
    OK(aclrtCreateStream(&stream));
    value.reserve[1] = 5;
    OK(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
    EXPECT((int)value.userCustomTag, -1);
    EXPECT(value.reserve[1], 5);
    value.userCustomTag = 77;
    OK(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
    value.userCustomTag = 0;
    OK(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
    EXPECT(value.userCustomTag, 77);
    OK(aclrtSetStreamOverflowSwitch(stream, 1));
    OK(aclrtGetStreamOverflowSwitch(stream, &flag));
    EXPECT(flag, 1);
    EXPECT(aclrtSetStreamOverflowSwitch(stream, 2), ACL_ERROR_INVALID_PARAM);
    value.streamPriority = 4;
    EXPECT(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &value), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &value), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtSetStreamAttribute(stream, (aclrtStreamAttr)42, &value), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, &all));
    OK(aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, all / 2));
    OK(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, &cores));
    TRUE(all > 1 && cores == all / 2);
    OK(aclrtResetStreamResLimit(stream));
    OK(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, all);

    /* What the thread has is what a stream that it uses has, else what the device has. */
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, all);
    OK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 4));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, 4);
    OK(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, 4);
    OK(aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, 3));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, 4);
    OK(aclrtUseStreamResInCurrentThread(stream));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, 3);
    OK(aclrtUnuseStreamResInCurrentThread(NULL));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, 3);
    OK(aclrtUnuseStreamResInCurrentThread(stream));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, 4);
    OK(aclrtResetDeviceResLimit(0));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, all);
    return finish();
}
