/* Calls a function that no table has, many times, through an address that it fetches by name, and
 * prints what a call costs, in nanoseconds, and how many calls it has made. With a second word it
 * fetches every function of a library that a count of is given, and prints how long that took for all
 * together, in nanoseconds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rounds.h"

static int fetch_all(void *library, int count)
{
    char name[64];
    double begin = now_ns();
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "aclnnOwn%05dGetWorkspaceSize", i);
        if (dlsym(library, name) == NULL) {
            return 1;
        }
    }
    printf("%.0f %d\n", now_ns() - begin, 0);
    return 0;
}

int main(int argc, char **argv)
{
    double best = 1e18;
    int (*call)(int *), value = 0;
    void *library = dlopen(argv[1], RTLD_NOW), *found;

    if (library == NULL) {
        return 1;
    }
    if (argc > 2) {
        return fetch_all(library, atoi(argv[2]));
    }
    found = dlsym(library, "aclOwnCount");
    memcpy(&call, &found, sizeof call);
    BEST_OF_ROUNDS(best, call(&value));
    printf("%.2f %d\n", best, ROUNDS * CALLS);
    return value != ROUNDS * CALLS;
}
