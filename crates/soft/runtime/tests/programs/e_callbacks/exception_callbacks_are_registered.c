/* Exception callbacks can be set, and the accessors know no exception. */
#include "../check.h"

static void callback(aclrtExceptionInfo *info)
{
    (void)info;
}

int main(void)
{
    start();
    OK(aclrtSetExceptionInfoCallback(callback));
    OK(aclrtSetExceptionInfoCallback(NULL));
    OK(aclrtExceptionInfoCallbackUnregister(callback));
    OK(aclrtExceptionInfoCallbackRegister(callback));
    OK(aclrtExceptionInfoCallbackUnregister(callback));
    EXPECT(aclrtExceptionInfoCallbackRegister(NULL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtGetTaskIdFromExceptionInfo(NULL), 0xffffffffu);
    EXPECT(aclrtGetStreamIdFromExceptionInfo(NULL), 0xffffffffu);
    EXPECT(aclrtGetThreadIdFromExceptionInfo(NULL), 0xffffffffu);
    EXPECT(aclrtGetDeviceIdFromExceptionInfo(NULL), 0xffffffffu);
    EXPECT(aclrtGetErrorCodeFromExceptionInfo(NULL), 0xffffffffu);
    return finish();
}
