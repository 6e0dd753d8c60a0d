/* NULL means the default stream of the current context; it cannot be destroyed and synchronises with nobody. */
#include "../check.h"

int main(void)
{
    aclrtStream own = NULL, other = NULL, stream = NULL;
    aclrtContext first, second;
    struct gate gate = {0, 0};
    int32_t id = -1, same = -2, different = -3;
    uint32_t flags = 9;
    void *memory;
    start();
    OK(aclrtGetCurrentContext(&first));
    OK(aclrtCtxGetCurrentDefaultStream(&own));
    OK(aclrtStreamGetId(NULL, &id));
    OK(aclrtStreamGetId(own, &same));
    EXPECT(id, same);
    OK(aclrtStreamGetFlags(NULL, &flags));
    EXPECT(flags, 3);
    EXPECT(aclrtDestroyStream(NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclrtDestroyStream(own));
    OK(aclrtCreateContext(&second, 0));
    OK(aclrtCtxGetCurrentDefaultStream(&other));
    OK(aclrtStreamGetId(NULL, &different));
    TRUE(other != own && different != id);
    OK(aclrtSetCurrentContext(first));
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtLaunchHostFunc(NULL, wait_at_gate, &gate));
    OK(aclrtMemsetAsync(memory, 64, 1, 64, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(gate.open, 0);
    EXPECT(aclrtSynchronizeStreamWithTimeout(own, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(NULL));
    EXPECT(gate.entered, 1);
    return finish();
}
