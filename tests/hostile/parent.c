// A parent with habits: starts a program with signals ignored or blocked, without standard streams, or with
// little address space. `parent [HABIT]... -- PROGRAM [ARGS]...`, HABIT is pipe, chld, usr2 (ignored), block (TERM and
// RTMIN+3 blocked), stdin (closed) or space=MIB.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int at = 1;
    for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
        if (strcmp(argv[at], "pipe") == 0) signal(SIGPIPE, SIG_IGN);
        if (strcmp(argv[at], "chld") == 0) signal(SIGCHLD, SIG_IGN);
        if (strcmp(argv[at], "usr2") == 0) signal(SIGUSR2, SIG_IGN);
        if (strcmp(argv[at], "stdin") == 0) close(0);
        if (strcmp(argv[at], "block") == 0) {
            sigset_t set;
            sigemptyset(&set);
            sigaddset(&set, SIGTERM);
            sigaddset(&set, SIGRTMIN + 3);
            sigprocmask(SIG_SETMASK, &set, NULL);
        }
        if (strncmp(argv[at], "space=", 6) == 0) {
            rlim_t bytes = (rlim_t)atoi(argv[at] + 6) << 20;
            setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
        }
    }
    if (at + 1 >= argc) return 2;
    execvp(argv[at + 1], argv + at + 1);
    perror("parent");
    return 127;
}
