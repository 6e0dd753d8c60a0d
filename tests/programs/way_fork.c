/* Forks in the middle of a call: from a callback that the call runs. The child goes on by itself. */
#include "program.h"

static pid_t child = -1;
static int runs;

static void callback(void *unused)
{
    (void)unused;
    if (runs++ == 0) {
        fflush(stdout);
        child = fork();
    }
}

static void *report(void *unused)
{
    while (runs < 2 && child != 0) {
        (void)aclrtProcessReport(1000);
        if (child == 0) {
            aclrtRunMode mode;
            (void)aclrtGetRunMode(&mode);
            (void)aclrtGetRunMode(&mode);
            _exit(5);
        }
    }
    return unused;
}

int main(void)
{
    aclrtStream stream;
    pthread_t thread;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    pthread_create(&thread, NULL, report, NULL);
    DO(aclrtSubscribeReport((uint64_t)thread, stream));
    DO(aclrtLaunchCallback(callback, NULL, ACL_CALLBACK_BLOCK, stream));
    DO(aclrtLaunchCallback(callback, NULL, ACL_CALLBACK_BLOCK, stream));
    DO(aclrtSynchronizeStream(stream));
    pthread_join(thread, NULL);
    report_child("the child", child);
    DO(aclrtUnSubscribeReport((uint64_t)thread, stream));
    DO(aclrtDestroyStream(stream));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
