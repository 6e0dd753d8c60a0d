/* A device has so many streams; two are the runtime's, destroyed ones come back.
   SOFTACL: streams=7 */
#include "../check.h"

int main(void)
{
    aclrtStream streams[6];
    uint32_t left = 99;
    start();
    OK(aclrtGetStreamAvailableNum(&left));
    EXPECT(left, 5);
    for (int i = 0; i < 5; i++) {
        OK(aclrtCreateStream(&streams[i]));
    }
    OK(aclrtGetStreamAvailableNum(&left));
    EXPECT(left, 0);
    EXPECT(aclrtCreateStream(&streams[5]), ACL_ERROR_RT_NO_STREAM_RESOURCE);
    OK(aclrtSetDevice(1));
    OK(aclrtCreateStream(&streams[5]));
    OK(aclrtSetDevice(0));
    OK(aclrtDestroyStream(streams[2]));
    OK(aclrtCreateStream(&streams[2]));
    EXPECT(aclrtCreateStream(&streams[5]), ACL_ERROR_RT_NO_STREAM_RESOURCE);
    return finish();
}
