/* In strict mode devices can be used after aclInit only.
   SOFTACL: strict */
#include "../check.h"

int main(void)
{
    aclrtContext context;
    EXPECT(aclrtSetDevice(0), ACL_ERROR_UNINITIALIZE);
    EXPECT(aclrtCreateContext(&context, 0), ACL_ERROR_UNINITIALIZE);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    return finish();
}
