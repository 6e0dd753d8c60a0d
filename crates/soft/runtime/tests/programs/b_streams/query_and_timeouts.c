/* A busy stream is not ready, and waiting for it can be limited. */
#include "../check.h"

int main(void)
{
    aclrtStream stream;
    aclrtStreamStatus state = ACL_STREAM_STATUS_RESERVED;
    struct gate gate = {0, 0};
    uint64_t begin;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtStreamQuery(stream, &state));
    EXPECT(state, ACL_STREAM_STATUS_COMPLETE);
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    OK(aclrtStreamQuery(stream, &state));
    EXPECT(state, ACL_STREAM_STATUS_NOT_READY);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, -2), ACL_ERROR_RT_PARAM_INVALID);
    begin = host_ns();
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 30), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    TRUE(host_ns() - begin >= 30000000u);
    open_gate(&gate);
    OK(aclrtSynchronizeStreamWithTimeout(stream, -1));
    OK(aclrtStreamQuery(stream, &state));
    EXPECT(state, ACL_STREAM_STATUS_COMPLETE);
    EXPECT(aclrtStreamQuery(stream, NULL), ACL_ERROR_INVALID_PARAM);
    return finish();
}
