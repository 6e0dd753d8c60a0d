/* The configuration of aclInit may name the device of threads that set none. */
#include "../check.h"
#include <unistd.h>

int main(void)
{
    char path[] = "/tmp/softacl-config-XXXXXX";
    static const char text[] = "{\"defaultDevice\":{\"default_device\":\"1\"}}";
    int file = mkstemp(path);
    int32_t device = -1;
    aclrtStream stream;
    EXPECT(write(file, text, sizeof text - 1), sizeof text - 1);
    close(file);
    EXPECT(aclInit("/nonexistent/acl.json"), ACL_ERROR_INVALID_FILE);
    OK(aclInit(path));
    unlink(path);
    OK(aclrtCreateStream(&stream));
    OK(aclrtGetDevice(&device));
    EXPECT(device, 1);
    OK(aclrtSetDevice(0));
    OK(aclrtGetDevice(&device));
    EXPECT(device, 0);
    return finish();
}
