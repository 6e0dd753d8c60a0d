/* Streams come with flags and priorities; unknown flags mean nothing. The first has the number 2,
   and the lowest number is used again first. */
#include "../check.h"

int main(void)
{
    aclrtStream plain, configured, third;
    uint32_t flags = 99, priority = 99, wanted_priority = 3;
    size_t wanted_flags = ACL_STREAM_FAST_LAUNCH;
    int32_t first = -1, second = -1;
    start();
    OK(aclrtCreateStream(&plain));
    OK(aclrtStreamGetFlags(plain, &flags));
    OK(aclrtStreamGetPriority(plain, &priority));
    EXPECT(flags, 0);
    EXPECT(priority, 0);
    OK(aclrtCreateStreamWithConfig(&configured, 5, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
    OK(aclrtStreamGetFlags(configured, &flags));
    OK(aclrtStreamGetPriority(configured, &priority));
    EXPECT(flags, 3);
    EXPECT(priority, 5);
    OK(aclrtCreateStreamWithConfig(&third, 0, 0x40));
    OK(aclrtDestroyStream(third));
    aclrtStreamConfigHandle *config = aclrtCreateStreamConfigHandle();
    TRUE(config != NULL);
    OK(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_FLAG, &wanted_flags, sizeof wanted_flags));
    OK(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &wanted_priority, 4));
    EXPECT(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &wanted_priority, 3),
           ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtCreateStreamV2(&third, config));
    OK(aclrtDestroyStreamConfigHandle(config));
    OK(aclrtStreamGetFlags(third, &flags));
    OK(aclrtStreamGetPriority(third, &priority));
    EXPECT(flags, ACL_STREAM_FAST_LAUNCH);
    EXPECT(priority, 3);
    OK(aclrtStreamGetId(plain, &first));
    OK(aclrtStreamGetId(third, &second));
    EXPECT(first, 2);
    EXPECT(second, 4);
    OK(aclrtDestroyStream(third));
    OK(aclrtDestroyStream(plain));
    OK(aclrtCreateStream(&plain));
    OK(aclrtStreamGetId(plain, &first));
    EXPECT(first, 2);
    EXPECT(aclrtCreateStream(NULL), ACL_ERROR_INVALID_PARAM);
    return finish();
}
