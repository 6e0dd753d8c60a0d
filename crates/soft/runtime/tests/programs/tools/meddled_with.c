/* Makes one error of its own and reads it. */
#include "../check.h"

int main(void)
{
    void *memory;
    start();
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtFree(memory));
    EXPECT(aclrtFree(main), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_PARAM_INVALID);
    TRUE(aclGetRecentErrMsg() != NULL);
    return finish();
}
