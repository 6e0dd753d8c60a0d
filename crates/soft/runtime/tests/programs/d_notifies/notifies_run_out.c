/* Notifies are limited per device.
   SOFTACL: notifies=2 */
#include "../check.h"

int main(void)
{
    aclrtNotify notifies[3];
    start();
    OK(aclrtCreateNotify(&notifies[0], ACL_NOTIFY_DEFAULT));
    OK(aclrtCreateNotify(&notifies[1], ACL_NOTIFY_DEFAULT));
    EXPECT(aclrtCreateNotify(&notifies[2], ACL_NOTIFY_DEFAULT), ACL_ERROR_RT_NO_NOTIFY_RESOURCE);
    OK(aclrtDestroyNotify(notifies[0]));
    OK(aclrtCreateNotify(&notifies[2], ACL_NOTIFY_DEFAULT));
    return finish();
}
