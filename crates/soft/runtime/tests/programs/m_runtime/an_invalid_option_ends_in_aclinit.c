/* An unknown option is named with the known ones, and nothing works after it.
   SOFTACL: frobnicate=1 */
#include "../check.h"

int main(void)
{
    int32_t device;
    EXPECT(aclInit(NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclInit(NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtSetDevice(0), ACL_ERROR_UNINITIALIZE);
    EXPECT(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    return finish();
}
