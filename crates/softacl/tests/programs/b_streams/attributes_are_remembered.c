/* Attributes and limits of a stream read back what was set. */
#include "../check.h"

int main(void)
{
    aclrtStream stream;
    aclrtStreamAttrValue value = {0};
    uint32_t flag = 9, cores = 0, all = 0;
    start();
    OK(aclrtCreateStream(&stream));
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
    OK(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &value));
    OK(aclrtStreamGetPriority(stream, &flag));
    EXPECT(flag, 4);
    EXPECT(aclrtSetStreamAttribute(stream, (aclrtStreamAttr)42, &value), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, &all));
    OK(aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, all / 2));
    OK(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, &cores));
    TRUE(all > 1 && cores == all / 2);
    OK(aclrtResetStreamResLimit(stream));
    OK(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, &cores));
    EXPECT(cores, all);
    return finish();
}
