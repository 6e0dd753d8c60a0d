/* Is linked to the functions of a library: a program, or a library that one loads. */
#define UNTYPED_DECLARED
#include "untyped.h"

extern int acl_own_lists(int) __attribute__((weak));
extern int aclOwnAbsent(int) __attribute__((weak));

/* Addresses that the loader stores in data. */
static struct untyped table = {
#define F(result, name, arguments) .name = name,
    UNTYPED_FUNCTIONS(F)
#undef F
};

int linked_run(void);

int linked_run(void)
{
    struct untyped own = {
#define F(result, name, arguments) .name = name,
        UNTYPED_FUNCTIONS(F)
#undef F
    };

    printf("data %d absent %d\n", aclOwnData, aclOwnAbsent != NULL);
    untyped_run(&own);
    untyped_run(&table);
    /* The calls that the compiler makes of names. */
    printf("%d %g\n", aclOwnPlain(20),
           aclOwnMixed(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20));
    printf("%d\n", aclOwnForward(21));
    fflush(stdout);
    return 0;
}

#ifdef UNTYPED_MAIN
int main(void)
{
    return linked_run();
}
#endif
