/* More tasks than a stream's queue holds: submitting waits for room. */
#include "program.h"

enum { BYTES = 1 << 20, TASKS = 300 };

int main(void)
{
    aclrtStream stream;
    void *buffer;
    unsigned char last = 0;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < TASKS; i++) {
        DO(aclrtMemsetAsync(buffer, BYTES, i, BYTES, stream));
    }
    DO(aclrtSynchronizeStream(stream));
    DO(aclrtMemcpy(&last, 1, buffer, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    printf("%d tasks, the last wrote %d\n", TASKS, last);
    return 0;
}
