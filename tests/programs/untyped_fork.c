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

/* As well from a thread that is not the first one. */
static void *in_thread(void *unused)
{
    int result = 0;
    printf("visit %d\n", aclOwnVisit(in_child, &result, 1));
    return unused;
}

int main(void)
{
    int result = 0;
    pthread_t thread;

    printf("plain %d\n", aclOwnPlain(2));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        aclOwnNothing();
        _exit(aclOwnPlain(7));
    }
    report_child("outside", child);
    printf("visit %d\n", aclOwnVisit(in_child, &result, 2));
    fflush(stdout);
    require(pthread_create(&thread, NULL, in_thread, NULL) == 0, "a thread starts");
    pthread_join(thread, NULL);
    printf("plain %d\n", aclOwnPlain(3));
    return 0;
}
