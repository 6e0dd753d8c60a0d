/* Values that are no handles get a code and are never followed. */
#include "../check.h"

int main(void)
{
    aclrtStreamStatus state;
    aclrtEventRecordedStatus status;
    void *values[] = {(void *)1, (void *)0xdeadbeef, &state, (void *)-16, main};
    start();
    for (int i = 0; i < 5; i++) {
        EXPECT(aclrtStreamQuery(values[i], &state), ACL_ERROR_RT_INVALID_HANDLE);
        EXPECT(aclrtSynchronizeStream(values[i]), ACL_ERROR_RT_INVALID_HANDLE);
        EXPECT(aclrtDestroyStream(values[i]), ACL_ERROR_RT_INVALID_HANDLE);
        EXPECT(aclrtQueryEventStatus(values[i], &status), ACL_ERROR_RT_INVALID_HANDLE);
        EXPECT(aclrtRecordEvent(values[i], NULL), ACL_ERROR_RT_INVALID_HANDLE);
        EXPECT(aclrtDestroyEvent(values[i]), ACL_ERROR_RT_INVALID_HANDLE);
        EXPECT(aclrtSetCurrentContext(values[i]), ACL_ERROR_RT_PARAM_INVALID);
        EXPECT(aclrtDestroyNotify(values[i]), ACL_ERROR_RT_INVALID_HANDLE);
    }
    return finish();
}
