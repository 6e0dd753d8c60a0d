/* Devices can be used before aclInit, in strict mode only after it. */
#include "../check.h"

int main(void)
{
    int before = strict() ? ACL_ERROR_UNINITIALIZE : ACL_SUCCESS;
    aclrtContext context;
    EXPECT(aclrtSetDevice(0), before);
    EXPECT(aclrtCreateContext(&context, 0), before);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    EXPECT(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE);
    return finish();
}
