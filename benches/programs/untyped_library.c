/* A function that no table has; with WRAPPED, a wrapper around it that does the least that recording a
 * call takes. */
#ifdef WRAPPED
#include "least.h"

static int count(int *value);
static int (*volatile real)(int *) = count;

int aclOwnCount(int *value)
{
    RECORDED(real(value), value);
}

static int count(int *value)
#else
int aclOwnCount(int *value)
#endif
{
    return ++*value;
}
