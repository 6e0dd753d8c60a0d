/* Starts threads by the thousand, a few at a time, that make one counted call each. */
#include "program.h"

enum { THREADS = 20000, AT_ONCE = 4 };

static void *work(void *unused)
{
    uint32_t number;

    (void)unused;
    DO(aclrtGetDeviceCount(&number));
    return NULL;
}

int main(void)
{
    pthread_t threads[AT_ONCE];

    DO(aclInit(NULL));
    for (int wave = 0; wave < THREADS / AT_ONCE; wave++) {
        for (int i = 0; i < AT_ONCE; i++) {
            require(pthread_create(&threads[i], NULL, work, NULL) == 0, "a thread starts");
        }
        for (int i = 0; i < AT_ONCE; i++) {
            pthread_join(threads[i], NULL);
        }
    }
    printf("%d threads\n", THREADS);
    return 0;
}
