/* Another thread ends the program while the main one is busy with AscendCL. */
#include <stdatomic.h>

#include "program.h"

static atomic_int rounds;

static void *leave(void *unused)
{
    (void)unused;
    while (rounds < 1000) {
        sched_yield();
    }
    printf("leaving\n");
    exit(7);
}

int main(void)
{
    aclrtStream stream;
    aclrtEvent event;
    pthread_t thread;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtCreateEvent(&event));
    pthread_create(&thread, NULL, leave, NULL);
    for (;;) {
        DO(aclrtRecordEvent(event, stream));
        DO(aclrtSynchronizeEvent(event));
        rounds++;
    }
}
