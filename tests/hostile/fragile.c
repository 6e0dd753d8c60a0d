// A thread's calls before, while and after it can be cancelled at any instruction: each is recorded once, whatever the
// runtime calls inside it.
#include <acl/acl.h>
#include <pthread.h>
#include <stdio.h>

enum { CALLS = 200 };

int main(void) {
    int32_t major, minor, patch;
    int made = 0;
    for (int round = 0; round < 3; round++) {
        if (round == 1) pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
        for (int i = 0; i < CALLS; i++, made++) aclrtGetVersion(&major, &minor, &patch);
        if (round == 1) pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
    }
    printf("made %d\n", made);
    return 0;
}
