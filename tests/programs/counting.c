/* Calls AscendCL as fast as a million times a second in one to three threads, and keeps count, in a
 * shared file, of the calls that have returned: to be killed at any moment. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "program.h"

enum { MOST = 3, RATE = 1000000 };

/* What the file holds: 64-bit numbers. A thread's id is set before its first counted call. */
struct slot {
    uint64_t thread;
    volatile uint64_t returned;
};
struct counts {
    volatile uint64_t process;
    struct slot slots[MOST];
};

static struct counts *counts;
static int threads;

static uint64_t microseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void *call_and_count(void *argument)
{
    struct slot *slot = argument;
    uint64_t begin = microseconds();
    int32_t device;

    DO(aclrtSetDevice(0));
    slot->thread = (uint64_t)syscall(SYS_gettid);
    for (;;) {
        for (int i = 0; i < 64; i++) {
            DO(aclrtGetDevice(&device));
            slot->returned++;
        }
        /* Together the threads keep to the rate; one that was held up catches up. */
        while (slot->returned * (uint64_t)threads > (microseconds() - begin) * RATE / 1000000) {
        }
    }
    return NULL;
}

int main(int count, char **words)
{
    pthread_t others[MOST];
    int file = count == 3 ? open(words[1], O_RDWR) : -1;

    require(file >= 0, "a file and a number of threads are named");
    counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    require(counts != MAP_FAILED, "the file can be mapped");
    threads = atoi(words[2]);
    require(threads >= 1 && threads <= MOST, "one to three threads");
    DO(aclInit(NULL));
    counts->process = (uint64_t)getpid();
    for (int i = 1; i < threads; i++) {
        require(pthread_create(&others[i], NULL, call_and_count, &counts->slots[i]) == 0,
                "a thread starts");
    }
    call_and_count(&counts->slots[0]);
    return 0;
}
