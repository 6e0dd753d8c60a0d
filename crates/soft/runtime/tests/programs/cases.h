/* A program of cases. Each is one behaviour, and runs in a process for itself: the program's argument is its name. */
#ifndef CASES_H
#define CASES_H

#include "check.h"

struct test_case {
    const char *name;
    int starts;
    void (*body)(void);
    struct test_case *next;
};

static struct test_case *cases;

#define CASE_OF(function, starts_)                                                          \
    static void function(void);                                                             \
    __attribute__((constructor)) static void add_##function(void)                           \
    {                                                                                       \
        static struct test_case this_case = {#function, starts_, function, NULL};           \
        this_case.next = cases;                                                             \
        cases = &this_case;                                                                 \
    }                                                                                       \
    static void function(void)

/* A case after `start`, and one before any call. */
#define CASE(function) CASE_OF(function, 1)
#define BARE_CASE(function) CASE_OF(function, 0)

int main(int count, char **words)
{
    for (struct test_case *it = cases; it && count > 1; it = it->next) {
        if (strcmp(it->name, words[1]) == 0) {
            if (it->starts) {
                start();
            }
            it->body();
            return finish();
        }
    }
    fprintf(stderr, "no case has this name\n");
    return 2;
}

#endif
