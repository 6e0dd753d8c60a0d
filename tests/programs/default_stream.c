/* The default stream, as NULL and by its handle, before and beside a stream that was created. */
#include "program.h"

enum { BYTES = 4096 };

int main(void)
{
    aclrtStream by_handle;
    aclrtStream created;
    int32_t ids[3];
    void *buffer;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMemsetAsync(buffer, BYTES, 1, BYTES, NULL));
    DO(aclrtCreateStream(&created));
    DO(aclrtMemsetAsync(buffer, BYTES, 2, BYTES, created));
    DO(aclrtMemsetAsync(buffer, BYTES, 3, BYTES, NULL));
    DO(aclrtCtxGetCurrentDefaultStream(&by_handle));
    DO(aclrtMemsetAsync(buffer, BYTES, 4, BYTES, by_handle));
    DO(aclrtStreamGetId(NULL, &ids[0]));
    DO(aclrtStreamGetId(by_handle, &ids[1]));
    DO(aclrtStreamGetId(created, &ids[2]));
    printf("one stream: %s\n", ids[0] == ids[1] ? "yes" : "no");
    printf("default %d, created %d\n", ids[0], ids[2]);
    DO(aclrtMemsetAsync(buffer, BYTES, 5, BYTES, NULL));
    DO(aclrtSynchronizeStream(by_handle));
    DO(aclrtSynchronizeStream(created));
    DO(aclrtSynchronizeStream(NULL));
    DO(aclrtDestroyStream(created));
    return 0;
}
