/* Forks again and again; threads of each child make their first calls at once, while the child is not known
 * to be a process of its own yet.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <sys/mman.h>

#include "../programs/program.h"

enum { CHILDREN = 40, THREADS = 16, CALLS = 4 };

static pthread_barrier_t barrier;
static unsigned long long *made;

static void call(void)
{
    int32_t device;

    (void)aclrtGetDevice(&device);
    __atomic_fetch_add(made, 1, __ATOMIC_RELAXED);
}

static void *calls(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < CALLS; i++) {
        call();
    }
    return NULL;
}

static void child(void)
{
    pthread_t threads[THREADS];

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        require(pthread_create(&threads[i], NULL, calls, NULL) == 0, "a thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    /* The thread that was there before the fork is not the first to call. */
    for (int i = 0; i < CALLS; i++) {
        call();
    }
    _exit(0);
}

int main(void)
{
    made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(made != MAP_FAILED, "shared memory");
    call();
    for (int i = 0; i < CHILDREN; i++) {
        pid_t pid = fork();
        int status = 0;

        if (pid == 0) {
            child();
        }
        require(waitpid(pid, &status, 0) == pid && status == 0, "a child that ends well");
    }
    printf("made %llu\n", *made);
    return 0;
}
