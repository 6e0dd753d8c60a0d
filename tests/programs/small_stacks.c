/* Threads with the smallest stack that there is. */
#include <limits.h>

#include "program.h"

static void *work(void *unused)
{
    int32_t device = -1;

    (void)unused;
    fill_on_new_stream(0, 4);
    DO(aclrtGetDevice(&device));
    printf("device %d\n", device);
    return NULL;
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    long size = sysconf(_SC_THREAD_STACK_MIN);

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    pthread_attr_init(&attributes);
    /* The minimum leaves nothing for the program itself: the runtime needs a few pages. */
    require(pthread_attr_setstacksize(&attributes, (size_t)size + 16384) == 0, "the size is fine");
    for (int i = 0; i < 4; i++) {
        require(pthread_create(&thread, &attributes, work, NULL) == 0, "a thread starts");
        pthread_join(thread, NULL);
    }
    return 0;
}
