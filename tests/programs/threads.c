/* Threads that come and go by the hundred, each with a stream of its own. */
#include "program.h"

enum { WAVES = 40, AT_ONCE = 8 };

static void *work(void *number)
{
    fill_on_new_stream((int)(intptr_t)number % 2, 2);
    return NULL;
}

int main(void)
{
    pthread_t threads[AT_ONCE];

    DO(aclInit(NULL));
    /* Holds the devices, so that a thread that ends does not take its own down. */
    DO(aclrtSetDevice(1));
    DO(aclrtSetDevice(0));
    for (int wave = 0; wave < WAVES; wave++) {
        for (intptr_t i = 0; i < AT_ONCE; i++) {
            require(pthread_create(&threads[i], NULL, work, (void *)i) == 0, "a thread starts");
        }
        for (int i = 0; i < AT_ONCE; i++) {
            pthread_join(threads[i], NULL);
        }
    }
    printf("%d threads\n", WAVES * AT_ONCE);
    return 0;
}
