/* The child of a fork neither hangs nor shares the parent's streams, and can initialise anew. */
#include "../check.h"
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    aclrtStream stream;
    void *memory;
    int status = -1;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemsetAsync(memory, 64, 1, 64, stream));
    OK(aclrtSynchronizeStream(stream));
    pid_t child = fork();
    if (child == 0) {
        EXPECT(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
        EXPECT(aclrtMemsetAsync(memory, 64, 1, 64, NULL), ACL_ERROR_RT_CONTEXT_NULL);
        start();
        OK(aclrtCreateStream(&stream));
        OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMemsetAsync(memory, 64, 1, 64, stream));
        OK(aclrtSynchronizeStream(stream));
        exit(failures != 0);
    }
    EXPECT(waitpid(child, &status, 0), child);
    EXPECT(status, 0);
    OK(aclrtSynchronizeStream(stream));
    return finish();
}
