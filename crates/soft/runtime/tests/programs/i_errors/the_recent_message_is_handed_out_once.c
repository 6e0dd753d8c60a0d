/* The message names the call and the code, and asking for it clears it. */
#include "../check.h"

int main(void)
{
    const char *message;
    OK(aclInit(NULL));
    TRUE(aclGetRecentErrMsg() == NULL);
    EXPECT(aclrtSetDevice(77), ACL_ERROR_RT_INVALID_DEVICEID);
    message = aclGetRecentErrMsg();
    TRUE(message != NULL);
    TRUE(message && strstr(message, "aclrtSetDevice") && strstr(message, "107001"));
    TRUE(aclGetRecentErrMsg() == NULL);
    return finish();
}
