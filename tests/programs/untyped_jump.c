/* Calls that are left by longjmp, once and from several calls at a time. */
#define UNTYPED_DECLARED
#include <setjmp.h>

#include "untyped.h"

static jmp_buf outside;

static int leap(int number, void *data)
{
    if (number == 2) {
        longjmp(outside, 1);
    }
    return data == NULL ? 1 : aclOwnVisit(leap, NULL, 3);
}

int main(void)
{
    for (volatile int round = 0; round < 300; round++) {
        if (setjmp(outside) == 0) {
            aclOwnVisit(leap, round & 1 ? &outside : NULL, 3);
            printf("it came back\n");
        }
        if (round < 3) {
            printf("%d\n", aclOwnPlain(round));
        }
    }
    printf("%d\n", aclOwnErrno(7));
    return 0;
}
