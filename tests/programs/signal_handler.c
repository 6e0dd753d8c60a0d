/* A timer's handler calls AscendCL, wherever it interrupts the program: also inside a call. */
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

#include "program.h"

enum { TIMES = 100 };

static atomic_int handled;
static atomic_int wrong;

static void on_alarm(int signal)
{
    aclrtRunMode mode = ACL_DEVICE;

    (void)signal;
    wrong += aclrtGetRunMode(&mode) != ACL_SUCCESS || mode != ACL_HOST;
    handled++;
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 200}, {0, 200}};
    struct itimerval never = {{0, 0}, {0, 0}};
    aclrtStream stream;
    aclrtEvent event;
    void *buffer;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtCreateEvent(&event));
    DO(aclrtMalloc(&buffer, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    while (handled < TIMES) {
        DO(aclrtMemsetAsync(buffer, 4096, 1, 4096, stream));
        DO(aclrtRecordEvent(event, stream));
        DO(aclrtSynchronizeStream(stream));
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("handled %s, wrong %d\n", handled >= TIMES ? "often" : "rarely", wrong);
    return 0;
}
