/* What softacl does not have is refused with one code; profiling calls are accepted. */
#include "../check.h"

int main(void)
{
    start();
    EXPECT(aclrtSwitchStream(NULL, ACL_RT_EQUAL, NULL, ACL_RT_SWITCH_INT32, NULL, NULL, NULL),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclmdlInitDump());
    OK(aclmdlFinalizeDump());
    return finish();
}
