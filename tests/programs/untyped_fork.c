/* Processes that fork inside and outside of calls of functions that no table has. */
#define UNTYPED_DECLARED
#include "untyped.h"

static int in_child(int number, void *data)
{
    pid_t child = fork();
    if (child == 0) {
        *(int *)data = aclOwnPlain(number + 10);
        aclOwnNothing();
        _exit(*(int *)data);
    }
    report_child("inside", child);
    return aclOwnPlain(number);
}

int main(void)
{
    int result = 0;

    printf("plain %d\n", aclOwnPlain(2));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        aclOwnNothing();
        _exit(aclOwnPlain(7));
    }
    report_child("outside", child);
    printf("visit %d\n", aclOwnVisit(in_child, &result, 2));
    printf("plain %d\n", aclOwnPlain(3));
    return 0;
}
