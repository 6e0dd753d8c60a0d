/* Hangs in the way that it is asked for: each time something never comes. It prints its pid before that. Or it is only
 * slow, or gives up, or goes on when it gets a signal.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "program.h"

#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>

#include "hccl/hccl.h"

enum { RANKS = 2, COUNT = 16 };

static HcclRootInfo root;
static pthread_barrier_t met;

static void say(void)
{
    printf("stuck %d\n", (int)getpid());
    fflush(stdout);
}

static void some_work(aclrtStream stream)
{
    void *buffer;

    DO(aclrtMalloc(&buffer, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMemsetAsync(buffer, 4096, 1, 4096, stream));
    DO(aclrtSynchronizeStream(stream));
}

static void event(aclrtStream *streams)
{
    aclrtEvent never;

    DO(aclrtCreateEventWithFlag(&never, ACL_EVENT_SYNC));
    DO(aclrtStreamWaitEvent(streams[0], never));
    say();
    aclrtSynchronizeStream(streams[0]);
}

static void cycle(aclrtStream *streams)
{
    aclrtNotify notifies[2];

    for (int i = 0; i < 2; i++) {
        DO(aclrtCreateNotify(&notifies[i], 0));
    }
    for (int i = 0; i < 2; i++) {
        DO(aclrtWaitAndResetNotify(notifies[i], streams[i], 0));
        DO(aclrtRecordNotify(notifies[1 - i], streams[i]));
    }
    say();
    aclrtSynchronizeStream(streams[1]);
}

static void nothing(void *unused) { (void)unused; }

/* The thread that is subscribed waits for the stream itself. */
static void callback_of_the_waiting_thread(aclrtStream *streams)
{
    DO(aclrtSubscribeReport((uint64_t)pthread_self(), streams[0]));
    DO(aclrtLaunchCallback(nothing, NULL, ACL_CALLBACK_BLOCK, streams[0]));
    say();
    aclrtSynchronizeStream(streams[0]);
}

static void *sleeping(void *unused)
{
    for (;;) {
        pause();
    }
    return unused;
}

static void sleeps(void *unused) { sleeping(unused); }

/* A host function runs on the first stream, and the second one waits for a record behind it. */
static void behind(aclrtStream *streams)
{
    aclrtEvent event;
    void *buffer;

    DO(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    DO(aclrtMalloc(&buffer, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    some_work(streams[1]);
    DO(aclrtLaunchHostFunc(streams[0], sleeps, NULL));
    DO(aclrtRecordEvent(event, streams[0]));
    DO(aclrtStreamWaitEvent(streams[1], event));
    DO(aclrtMemsetAsync(buffer, 4096, 1, 4096, streams[1]));
    say();
    aclrtSynchronizeStream(streams[1]);
}

static void synchronises(void *stream) { aclrtSynchronizeStream(stream); }

/* A host function waits for its own stream. */
static void host_function(aclrtStream *streams)
{
    DO(aclrtLaunchHostFunc(streams[0], synchronises, streams[0]));
    say();
    aclrtSynchronizeStream(streams[0]);
}

/* The last work before the host function is one of many. Few of them have times. */
static void behind_short_work(aclrtStream *streams)
{
    void *buffer;

    DO(aclrtMalloc(&buffer, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < 200; i++) {
        DO(aclrtMemsetAsync(buffer, 4096, 1, 4096, streams[0]));
    }
    DO(aclrtSynchronizeStream(streams[0]));
    DO(aclrtMemsetAsync(buffer, 4096, 1, 4096, streams[0]));
    DO(aclrtLaunchHostFunc(streams[0], sleeps, NULL));
    say();
    aclrtSynchronizeStream(streams[0]);
}

/* The notify is recorded twice before its first wait. */
static void lost_signal(aclrtStream *streams)
{
    aclrtNotify notify;

    DO(aclrtCreateNotify(&notify, 0));
    for (int i = 0; i < 2; i++) {
        DO(aclrtRecordNotify(notify, streams[0]));
    }
    DO(aclrtSynchronizeStream(streams[0]));
    for (int i = 0; i < 2; i++) {
        DO(aclrtWaitAndResetNotify(notify, streams[1], 0));
    }
    say();
    aclrtSynchronizeStream(streams[1]);
}

/* A thread made calls, and does what it is given. */
static aclrtEvent never;
static volatile int is_ready;

static void *prepares(void *work)
{
    DO(aclrtSetDevice(0));
    is_ready = 1;
    while (work != NULL) {
    }
    return NULL;
}

static void waits_for_a_thread(aclrtStream *streams, void *work)
{
    pthread_t thread;

    DO(aclrtCreateEventWithFlag(&never, ACL_EVENT_SYNC));
    require(pthread_create(&thread, NULL, prepares, work) == 0, "a thread");
    if (work == NULL) {
        pthread_join(thread, NULL);
    }
    while (!is_ready) {
        usleep(100);
    }
    DO(aclrtStreamWaitEvent(streams[0], never));
    say();
    aclrtSynchronizeStream(streams[0]);
}

/* ---- Waits of threads for each other, outside AscendCL ---- */

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* Takes both locks, the one with this number first. */
static void *takes_both(void *first)
{
    int number = *(int *)first;

    DO(aclrtSetDevice(0));
    pthread_mutex_lock(&locks[number]);
    pthread_barrier_wait(&met);
    pthread_mutex_lock(&locks[1 - number]);
    return NULL;
}

/* Keeps a lock when it ends, or while it sleeps. */
static void *keeps(void *sleeps)
{
    DO(aclrtSetDevice(0));
    pthread_mutex_lock(&locks[0]);
    pthread_barrier_wait(&met);
    return sleeps != NULL ? sleeping(NULL) : NULL;
}

static void *takes_one(void *unused)
{
    DO(aclrtSetDevice(0));
    pthread_barrier_wait(&met);
    pthread_mutex_lock(&locks[0]);
    return unused;
}

static void *waits_for_a_change(void *unused)
{
    DO(aclrtSetDevice(0));
    pthread_mutex_lock(&locks[0]);
    for (;;) {
        pthread_cond_wait(&changed, &locks[0]);
    }
    return unused;
}

/* Waits for the end of two threads. */
static void joins(void *(*first)(void *), void *of_first, void *(*second)(void *), void *of_second)
{
    pthread_t threads[2];

    pthread_barrier_init(&met, NULL, 2);
    require(pthread_create(&threads[0], NULL, first, of_first) == 0, "a thread");
    require(pthread_create(&threads[1], NULL, second, of_second) == 0, "a thread");
    say();
    pthread_join(threads[1], NULL);
    pthread_join(threads[0], NULL);
}

static int numbers[2] = {0, 1};

static void *ends(void *unused)
{
    DO(aclrtSetDevice(0));
    return unused;
}

/* A child has the writing end of a pipe as well, until it ends. */
static void reads(int child_lives)
{
    int ends_of_pipe[2];
    char byte;

    require(pipe(ends_of_pipe) == 0, "a pipe");
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (child_lives) {
            pause();
        }
        _exit(3);
    }
    say();
    require(read(ends_of_pipe[0], &byte, 1) >= 0, "the pipe is read");
}

static void takes_the_lock(void *unused)
{
    pthread_mutex_lock(&locks[0]);
    (void)unused;
}

/* A host function waits for a lock of the thread that waits for its stream. */
static void host_function_with_a_lock(aclrtStream *streams)
{
    pthread_mutex_lock(&locks[0]);
    DO(aclrtLaunchHostFunc(streams[0], takes_the_lock, NULL));
    say();
    aclrtSynchronizeStream(streams[0]);
}

static sem_t never_posted;

static void waits_for_a_post(void *unused)
{
    sem_wait(&never_posted);
    (void)unused;
}

/* A host function waits for what the thread would do after its wait. The device has nothing to do. */
static void host_function_with_a_semaphore(aclrtStream *streams)
{
    require(sem_init(&never_posted, 0, 0) == 0, "a semaphore");
    DO(aclrtLaunchHostFunc(streams[0], waits_for_a_post, NULL));
    say();
    aclrtSynchronizeDevice();
}

/* Runs callbacks until it is killed. */
static void *serves(void *unused)
{
    is_ready = 1;
    for (;;) {
        aclrtProcessReport(100);
    }
    return unused;
}

/* A callback waits for a lock of the thread that waits for the work behind it, on another stream. */
static void callback_with_a_lock(aclrtStream *streams)
{
    pthread_t thread;
    aclrtEvent behind;
    require(pthread_create(&thread, NULL, serves, NULL) == 0, "a thread");
    while (!is_ready) {
        usleep(1000);
    }
    DO(aclrtCreateEventExWithFlag(&behind, ACL_EVENT_SYNC));
    DO(aclrtSubscribeReport((uint64_t)thread, streams[0]));
    pthread_mutex_lock(&locks[0]);
    DO(aclrtLaunchCallback(takes_the_lock, NULL, ACL_CALLBACK_BLOCK, streams[0]));
    DO(aclrtRecordEvent(behind, streams[0]));
    DO(aclrtStreamWaitEvent(streams[1], behind));
    say();
    aclrtSynchronizeStream(streams[1]);
}

/* Whether this is such a case: then it waits, until it is killed. */
static int waits_outside(const char *how, aclrtStream *streams)
{
    if (strcmp(how, "two-locks") == 0) {
        joins(takes_both, &numbers[0], takes_both, &numbers[1]);
    } else if (strcmp(how, "left-lock") == 0) {
        joins(keeps, NULL, takes_one, NULL);
    } else if (strcmp(how, "lock-of-a-sleeper") == 0) {
        joins(keeps, numbers, takes_one, NULL);
    } else if (strcmp(how, "condition") == 0) {
        joins(ends, NULL, waits_for_a_change, NULL);
    } else if (strcmp(how, "condition-and-a-sleeper") == 0) {
        joins(sleeping, NULL, waits_for_a_change, NULL);
    } else if (strcmp(how, "pipe-of-an-ended-child") == 0) {
        reads(0);
    } else if (strcmp(how, "pipe-of-a-child") == 0) {
        reads(1);
    } else if (strcmp(how, "host-function-with-a-lock") == 0) {
        host_function_with_a_lock(streams);
    } else if (strcmp(how, "host-function-with-a-semaphore") == 0) {
        host_function_with_a_semaphore(streams);
    } else if (strcmp(how, "callback-with-a-lock") == 0) {
        callback_with_a_lock(streams);
    } else {
        return 0;
    }
    return 1;
}

static void callback(aclrtStream *streams)
{
    pthread_t thread;
    require(pthread_create(&thread, NULL, sleeping, NULL) == 0, "a thread");
    DO(aclrtSubscribeReport((uint64_t)thread, streams[0]));
    DO(aclrtLaunchCallback(nothing, NULL, ACL_CALLBACK_BLOCK, streams[0]));
    say();
    aclrtSynchronizeStream(streams[0]);
}

/* Both ranks reduce once, and rank 0 once more. */
static void *rank(void *number)
{
    int own = (int)(intptr_t)number;
    aclrtStream stream;
    HcclComm comm;
    void *from, *to;

    DO(aclrtSetDevice(own));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&from, COUNT * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMalloc(&to, COUNT * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
    require(HcclCommInitRootInfo(RANKS, &root, (uint32_t)own, &comm) == 0, "a communicator");
    for (int turn = 0; turn < 2 - own; turn++) {
        require(HcclAllReduce(from, to, COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream) == 0, "a collective");
        if (turn == 0) {
            DO(aclrtSynchronizeStream(stream));
        }
    }
    pthread_barrier_wait(&met);
    if (own == 0) {
        aclrtSynchronizeStream(stream);
    }
    return NULL;
}

static void ranks(void)
{
    pthread_t threads[RANKS];

    require(HcclGetRootInfo(&root) == 0, "what all ranks know");
    pthread_barrier_init(&met, NULL, RANKS + 1);
    for (intptr_t i = 0; i < RANKS; i++) {
        pthread_create(&threads[i], NULL, rank, (void *)i);
    }
    pthread_barrier_wait(&met);
    say();
    pthread_join(threads[0], NULL);
}

/* The runtime gives the wait up. */
static void timeout(aclrtStream *streams)
{
    enum { SOON_MS = 12000 };
    aclrtEvent never;

    DO(aclrtCreateEventWithFlag(&never, ACL_EVENT_SYNC));
    DO(aclrtStreamWaitEvent(streams[0], never));
    say();
    printf("returned %d\n", (int)aclrtSynchronizeStreamWithTimeout(streams[0], SOON_MS));
    fflush(stdout);
}

/* Something moves once a second. */
static void slow(aclrtStream *streams)
{
    say();
    for (int turn = 0; turn < 8; turn++) {
        sleep(1);
        some_work(streams[0]);
    }
    _exit(0);
}

static volatile sig_atomic_t signals;

static void note(int number)
{
    (void)number;
    signals++;
}

/* Goes on at the first signal, and ends at the second one. */
static void again(aclrtStream *streams)
{
    sigset_t usual, blocked;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, &usual);
    signal(SIGUSR1, note);
    for (int turn = 0; turn < 2; turn++) {
        say();
        while (signals <= turn) {
            sigsuspend(&usual);
        }
        some_work(streams[0]);
    }
    puts("done");
    exit(0);
}

int main(int count, char **words)
{
    /* Scripts start what runs beside them with this signal ignored. */
    if (getenv("STUCK_KEEPS_SIGNALS") == NULL) {
        signal(SIGQUIT, SIG_DFL);
    }
    const char *how = count > 1 ? words[1] : "";
    aclrtStream streams[2];

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    for (int i = 0; i < 2; i++) {
        DO(aclrtCreateStream(&streams[i]));
    }
    some_work(streams[0]);
    if (strcmp(how, "event") == 0) {
        event(streams);
    } else if (strcmp(how, "cycle") == 0) {
        cycle(streams);
    } else if (strcmp(how, "callback-of-the-waiting-thread") == 0) {
        callback_of_the_waiting_thread(streams);
    } else if (strcmp(how, "callback") == 0) {
        callback(streams);
    } else if (strcmp(how, "behind") == 0) {
        behind(streams);
    } else if (strcmp(how, "behind-short-work") == 0) {
        behind_short_work(streams);
    } else if (strcmp(how, "lost-signal") == 0) {
        lost_signal(streams);
    } else if (strcmp(how, "thread-computes") == 0) {
        waits_for_a_thread(streams, streams);
    } else if (strcmp(how, "thread-ended") == 0) {
        waits_for_a_thread(streams, NULL);
    } else if (strcmp(how, "host-function") == 0) {
        host_function(streams);
    } else if (strcmp(how, "rank") == 0) {
        ranks();
    } else if (strcmp(how, "timeout") == 0) {
        timeout(streams);
    } else if (strcmp(how, "slow") == 0) {
        slow(streams);
    } else if (strcmp(how, "again") == 0) {
        again(streams);
    } else if (!waits_outside(how, streams)) {
        say();
    }
    /* What is not in a call waits outside, until it is killed. */
    for (;;) {
        pause();
    }
}
