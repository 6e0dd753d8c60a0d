/* What softacl does not have is refused with one code; profiling calls are accepted. */
#include "../check.h"
#include <unistd.h>

int main(void)
{
    start();
    EXPECT(aclrtSnapShotProcessBackup(getpid(), NULL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclmdlInitDump());
    OK(aclmdlFinalizeDump());
    return finish();
}
