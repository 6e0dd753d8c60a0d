/* A stream with a full queue: the thread that submits to it waits. */
#ifndef FULL_QUEUE_H
#define FULL_QUEUE_H

#include "check.h"
#include <pthread.h>

struct submitter {
    aclrtContext context;
    aclrtStream stream;
    int tasks, submitted, calls;
};

static inline void *submit(void *data)
{
    struct submitter *all = data;
    OK(aclrtSetCurrentContext(all->context));
    for (int i = 0; i < all->tasks; i++) {
        OK(aclrtLaunchHostFunc(all->stream, count_call, &all->calls));
        __atomic_add_fetch(&all->submitted, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

/* A stream that is blocked by its first task takes no more than `room` tasks with it, and all of them in the end. */
static inline void takes(int room, int tasks)
{
    struct submitter all = {NULL, NULL, tasks, 0, 0};
    pthread_t thread;
    struct gate gate = {0, 0};
    OK(aclrtCreateStream(&all.stream));
    OK(aclrtGetCurrentContext(&all.context));
    OK(aclrtLaunchHostFunc(all.stream, wait_at_gate, &gate));
    pthread_create(&thread, NULL, submit, &all);
    for (int i = 0; i < 5000 && __atomic_load_n(&all.submitted, __ATOMIC_SEQ_CST) < room - 1; i++) {
        sleep_ms(1);
    }
    sleep_ms(30);
    EXPECT(__atomic_load_n(&all.submitted, __ATOMIC_SEQ_CST), room - 1);
    open_gate(&gate);
    pthread_join(thread, NULL);
    OK(aclrtSynchronizeStream(all.stream));
    EXPECT(all.submitted, tasks);
    EXPECT(all.calls, tasks);
}

#endif
