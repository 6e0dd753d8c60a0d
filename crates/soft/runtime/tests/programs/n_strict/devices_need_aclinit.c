/* Devices can be used before aclInit. */
#include "../check.h"

int main(void)
{
    aclrtContext context;
    OK(aclrtSetDevice(0));
    OK(aclrtCreateContext(&context, 0));
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    EXPECT(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE);
    return finish();
}
