/* Gives names to what it does: kernels, threads, marks and ranges. The first word names a kernel
 * object. */
#include "program.h"
#include <sys/prctl.h>

uint64_t mstxRangeStartA(const char *message, aclrtStream stream);
void mstxRangeEnd(uint64_t id);
void mstxMarkA(const char *message, aclrtStream stream);

static void *work(void *unused)
{
    int32_t device;

    (void)aclrtGetDevice(&device);
    prctl(PR_SET_NAME, "renamed-later");
    return unused;
}

int main(int count, char **words)
{
    aclrtBinHandle binary;
    aclrtFuncHandle function;
    aclrtStream stream;
    pthread_t thread;
    uint64_t outer, inner;
    int32_t argument = 1;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtBinaryLoadFromFile(count > 1 ? words[1] : "", NULL, &binary));
    DO(aclrtBinaryGetFunction(binary, "way_kernel", &function));
    outer = mstxRangeStartA("epoch", NULL);
    inner = mstxRangeStartA("step", stream);
    for (int i = 0; i < 3; i++) {
        DO(aclrtLaunchKernelWithHostArgs(function, 4, stream, NULL, &argument, sizeof(argument),
                                         NULL, 0));
    }
    mstxRangeEnd(inner);
    mstxMarkA("loss is nan", NULL);
    DO(aclrtSynchronizeStream(stream));
    mstxRangeEnd(outer);
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    DO(aclrtBinaryUnLoad(binary));
    DO(aclrtDestroyStream(stream));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
