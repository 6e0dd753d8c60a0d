/* What threads, host functions and ended things do to a program, with and without a mistake: one case by its name. Every
 * case ends by itself. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <semaphore.h>

#include "program.h"

enum { BYTES = 64 * 1024, MANY = 4 * 1024 * 1024, ROUNDS = 8, SHORT_US = 300, LONG_US = 20 * 1000 };

static aclrtContext context;
static aclrtStream stream;
static void *device_memory;
static char pageable_memory[MANY];

/* Behind what a long copy writes. */
static void fill(aclrtStream to)
{
    DO(aclrtMemsetAsync((char *)device_memory + MANY, BYTES, 1, BYTES, to));
}

/* What is wrong with a call shows in its code. */
static void fails(aclError code)
{
    require(code != ACL_SUCCESS, "the call fails");
}

static void settle(void)
{
    DO(aclrtSynchronizeStream(stream));
}

/* ---- Host functions ---- */

static sem_t wanted, ready;

static void allocate(void *unused)
{
    void *memory;

    (void)unused;
    usleep(SHORT_US);
    DO(aclrtSetCurrentContext(context));
    DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtFree(memory));
    usleep(SHORT_US);
}

static void ask(void *unused)
{
    aclrtRunMode mode;

    (void)unused;
    usleep(SHORT_US);
    DO(aclrtGetRunMode(&mode));
    usleep(SHORT_US);
}

static void wake(void *unused)
{
    (void)unused;
    sem_post(&wanted);
    usleep(SHORT_US);
}

static void launch_many(void (*function)(void *))
{
    for (int i = 0; i < ROUNDS; i++) {
        fill(stream);
        DO(aclrtLaunchHostFunc(stream, function, NULL));
        settle();
        usleep(LONG_US);
    }
}

static void host_function_allocates(void)
{
    launch_many(allocate);
}

static void host_function_asks(void)
{
    launch_many(ask);
}

/* Its first call is made while no host function runs. */
static void *allocate_when_woken(void *unused)
{
    DO(aclrtSetCurrentContext(context));
    sem_post(&ready);
    for (int i = 0; i < ROUNDS; i++) {
        void *memory;

        while (sem_wait(&wanted) != 0) {
        }
        DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        DO(aclrtFree(memory));
    }
    return unused;
}

static void host_function_wakes_a_thread(void)
{
    pthread_t thread;

    require(sem_init(&wanted, 0, 0) == 0, "a semaphore");
    require(sem_init(&ready, 0, 0) == 0, "a semaphore");
    require(pthread_create(&thread, NULL, allocate_when_woken, NULL) == 0, "a thread starts");
    while (sem_wait(&ready) != 0) {
    }
    launch_many(wake);
    pthread_join(thread, NULL);
}

/* ---- One stream for two threads ---- */

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* Takes long inside the call: the runtime copies pageable memory itself. */
static void *copy_long(void *unused)
{
    DO(aclrtSetCurrentContext(context));
    pthread_mutex_lock(&turn);
    sem_post(&wanted);
    DO(aclrtMemcpyAsync(device_memory, MANY, pageable_memory, MANY, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    pthread_mutex_unlock(&turn);
    return unused;
}

static void fill_meanwhile(int in_turn)
{
    pthread_t thread;

    require(sem_init(&wanted, 0, 0) == 0, "a semaphore");
    require(pthread_create(&thread, NULL, copy_long, NULL) == 0, "a thread starts");
    while (sem_wait(&wanted) != 0) {
    }
    usleep(10 * 1000);
    if (in_turn) {
        pthread_mutex_lock(&turn);
    }
    fill(stream);
    if (in_turn) {
        pthread_mutex_unlock(&turn);
    }
    pthread_join(thread, NULL);
    settle();
}

static void threads_at_once(void)
{
    fill_meanwhile(0);
}

static void threads_in_turn(void)
{
    fill_meanwhile(1);
}

/* ---- Ended things ---- */

static void reset(void)
{
    settle();
    DO(aclrtResetDevice(0));
}

/* The things that the program ends at its end. */
static void make_again(void)
{
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&device_memory, MANY + BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
}

static void stream_after_reset(void)
{
    reset();
    fails(aclrtSynchronizeStream(stream));
    make_again();
}

static void memory_after_reset(void)
{
    void *memory;

    reset();
    fails(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    make_again();
}

static void stream_after_destroy(void)
{
    aclrtStream other;

    DO(aclrtCreateStream(&other));
    DO(aclrtDestroyStream(other));
    fails(aclrtMemsetAsync(device_memory, BYTES, 1, BYTES, other));
}

static void event_after_destroy(void)
{
    aclrtEvent event;

    DO(aclrtCreateEvent(&event));
    DO(aclrtDestroyEvent(event));
    fails(aclrtRecordEvent(event, stream));
}

static void use_of_context(int uses_stream)
{
    aclrtContext other;
    aclrtStream within;

    DO(aclrtCreateContext(&other, 0));
    DO(aclrtCreateStream(&within));
    DO(aclrtDestroyContext(other));
    if (!uses_stream) {
        fails(aclrtSetCurrentContext(other));
    }
    DO(aclrtSetCurrentContext(context));
    if (uses_stream) {
        fails(aclrtSynchronizeStream(within));
    }
}

static void context_after_destroy(void)
{
    use_of_context(0);
}

static void stream_after_its_context(void)
{
    use_of_context(1);
}

static void made_again_after_reset(void)
{
    reset();
    make_again();
    fill(stream);
    settle();
}

static void reset_of_two_references(void)
{
    DO(aclrtSetDevice(0));
    reset();
    fill(stream);
    /* It fails, and the stream is there. */
    fails(aclrtMemsetAsync(device_memory, BYTES, 1, 2 * BYTES, stream));
    settle();
}

static void failed_for_another_reason(void)
{
    aclrtStream other;

    DO(aclrtCreateStream(&other));
    DO(aclrtDestroyStream(other));
    DO(aclrtCreateStream(&other));
    fails(aclrtMemsetAsync(device_memory, BYTES, 1, 2 * BYTES, other));
    DO(aclrtDestroyStream(other));
}

/* ---- Captures ---- */

static void capture_of_the_default_stream(void)
{
    fails(aclmdlRICaptureBegin(NULL, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
#define CASE(name) {#name, name}
    CASE(host_function_allocates),
    CASE(host_function_asks),
    CASE(host_function_wakes_a_thread),
    CASE(threads_at_once),
    CASE(threads_in_turn),
    CASE(stream_after_reset),
    CASE(memory_after_reset),
    CASE(stream_after_destroy),
    CASE(event_after_destroy),
    CASE(context_after_destroy),
    CASE(stream_after_its_context),
    CASE(made_again_after_reset),
    CASE(reset_of_two_references),
    CASE(failed_for_another_reason),
    CASE(capture_of_the_default_stream),
};

int main(int count, char **words)
{
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtGetCurrentContext(&context));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&device_memory, MANY + BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    require(count == 2, "the name of a case");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!strcmp(cases[i].name, words[1])) {
            cases[i].run();
            puts(words[1]);
        }
    }
    DO(aclrtFree(device_memory));
    DO(aclrtDestroyStream(stream));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
