// Prints what a program inherits: ignored and blocked signals, open standard streams, limits, its group's size
// of foreground. Makes calls as well.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "acl/acl.h"

int main(void) {
    for (int signal = 1; signal < NSIG; signal++) {
        struct sigaction action;
        if (sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN) printf("ignored %d\n", signal);
    }
    sigset_t blocked;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (int signal = 1; signal < NSIG; signal++) {
        if (sigismember(&blocked, signal)) printf("blocked %d\n", signal);
    }
    for (int stream = 0; stream < 3; stream++) printf("stream %d %s\n", stream, fcntl(stream, F_GETFD) < 0 ? "closed" : "open");
    for (int limit = 0; limit < RLIM_NLIMITS; limit++) {
        struct rlimit value;
        if (getrlimit(limit, &value) == 0) printf("limit %d %lld %lld\n", limit, (long long)value.rlim_cur, (long long)value.rlim_max);
    }
    int made = 0;
    aclInit(NULL), made++;
    aclrtSetDevice(0), made++;
    aclrtResetDevice(0), made++;
    aclFinalize(), made++;
    printf("made %d\n", made);
    return 3;
}
