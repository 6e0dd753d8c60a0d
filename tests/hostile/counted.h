/* What programs that count their calls share. A call is begun before it is made and returned once it is
 * over: between the two it may or may not be recorded, if it never returns.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef TESTS_COUNTED_H
#define TESTS_COUNTED_H

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

#include "../programs/program.h"

static atomic_ullong begun;
static atomic_ullong returned;

/* Makes a call, whatever it answers. */
#define COUNT(call) (atomic_fetch_add(&begun, 1), (void)(call), atomic_fetch_add(&returned, 1))

/* What the test holds the trace against. */
static inline void tell_counts(void)
{
    if (begun == returned) {
        printf("made %llu\n", (unsigned long long)begun);
    }
    printf("returned %llu\nbegun %llu\n", (unsigned long long)returned, (unsigned long long)begun);
}

/* Sends SIGALRM every so many microseconds; 0 stops that. */
static inline void alarm_every(long microseconds)
{
    struct itimerval often = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &often, NULL);
}

/* Takes SIGALRM, on a stack of its own if `alternate` is set. */
static inline void on_alarm(void (*handler)(int), int alternate)
{
    struct sigaction action = {.sa_handler = handler};

    action.sa_flags = SA_RESTART | (alternate ? SA_ONSTACK : 0);
    if (alternate) {
        static char room[256 * 1024];
        stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)};
        sigaltstack(&stack, NULL);
    }
    sigaction(SIGALRM, &action, NULL);
}

#endif
