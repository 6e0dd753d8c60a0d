/* The host does not wait for streams of certain kinds. */
#include "../check.h"

int main(void)
{
    aclrtStream stream;
    struct gate gate = {0, 0};
    uint64_t begin;
    start();
    OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_DEVICE_USE_ONLY));
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    begin = host_ns();
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtSynchronizeDevice());
    TRUE(host_ns() - begin < 5000000000u);
    EXPECT(__atomic_load_n(&gate.open, __ATOMIC_SEQ_CST), 0);
    EXPECT(aclrtPersistentTaskClean(stream), ACL_ERROR_RT_INTERNAL_ERROR);
    open_gate(&gate);
    return finish();
}
