/* Prints the signals that it ignores from its start, takes over all others that it can, and prints each one that comes.
 * SIGTERM ends it with 7. Signals in the list of words keep what they were at the start.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <signal.h>

#include "program.h"

static const int taken[] = {
    SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGCONT, SIGXCPU, SIGPROF, SIGPWR,
    SIGIO, SIGURG,
};
enum { TAKEN = sizeof(taken) / sizeof(taken[0]) };

static int is_left(int signal, int count, char **words)
{
    for (int i = 1; i < count; i++) {
        if (atoi(words[i]) == signal) {
            return 1;
        }
    }
    return 0;
}

int main(int count, char **words)
{
    sigset_t waited;
    siginfo_t info;

    sigemptyset(&waited);
    for (int i = 0; i < TAKEN; i++) {
        struct sigaction before;
        sigaction(taken[i], NULL, &before);
        if (before.sa_handler == SIG_IGN) {
            printf("ignored %d\n", taken[i]);
        }
    }
    for (int i = 0; i < TAKEN + 1; i++) {
        int signal = i < TAKEN ? taken[i] : SIGRTMIN + 3;
        if (is_left(signal, count, words)) {
            continue;
        }
        sigaddset(&waited, signal);
    }
    /* Threads of the runtime inherit this. */
    pthread_sigmask(SIG_BLOCK, &waited, NULL);
    for (int i = 0; i < TAKEN + 1; i++) {
        int signal = i < TAKEN ? taken[i] : SIGRTMIN + 3;
        if (sigismember(&waited, signal)) {
            /* What is ignored would not even wait. */
            struct sigaction action = {.sa_handler = (void (*)(int))abort};
            sigaction(signal, &action, NULL);
        }
    }
    DO(aclInit(NULL));
    fill_on_new_stream(0, 2);
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        int signal = sigwaitinfo(&waited, &info);
        if (signal < 0) {
            continue;
        }
        if (info.si_code == SI_QUEUE) {
            printf("got %d with %d\n", signal, info.si_value.sival_int);
        } else {
            printf("got %d\n", signal);
        }
        fflush(stdout);
        if (signal == SIGTERM) {
            return 7;
        }
    }
}
