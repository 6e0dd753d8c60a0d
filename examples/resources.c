/* What a program allocates before its work and gives back after it, in the documented order:
 * device, context, stream; then stream, context, device. */
#include <string.h>

#include "count.h"

enum { BYTES = 4096 };

int main(void)
{
    aclrtRunMode mode;
    aclrtContext context;
    aclrtStream stream;
    uint32_t devices;
    void *buffer;
    char text[BYTES];

    CALL(aclInit(NULL));
    CALL(aclrtGetDeviceCount(&devices));
    CALL(aclrtSetDevice(0));
    CALL(aclrtCreateContext(&context, 0));
    CALL(aclrtSetCurrentContext(context));
    CALL(aclrtCreateStream(&stream));
    CALL(aclrtGetRunMode(&mode));
    printf("the program runs on the %s\n", mode == ACL_HOST ? "host" : "device");

    CALL(aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_NORMAL_ONLY));
    strcpy(text, "kept on the device");
    CALL(aclrtMemcpy(buffer, BYTES, text, BYTES, ACL_MEMCPY_HOST_TO_DEVICE));
    memset(text, 0, BYTES);
    CALL(aclrtMemcpy(text, BYTES, buffer, BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
    printf("the text was %s\n", text);
    TASK(aclrtMemsetAsync(buffer, BYTES, 0, BYTES, stream));
    CALL(aclrtSynchronizeStream(stream));

    CALL(aclrtFree(buffer));
    CALL(aclrtDestroyStream(stream));
    CALL(aclrtDestroyContext(context));
    CALL(aclrtResetDevice(0));
    CALL(aclFinalize());
    return report_counts();
}
