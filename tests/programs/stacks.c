/* Calls from many kinds of stacks: one case by its name. Each allocates memory in the function `allocate`, which the
 * case's own function calls. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "program.h"

#include <alloca.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#define APART __attribute__((noinline, noclone))

static volatile int sink;

static APART void allocate(void)
{
    void *memory = NULL;
    DO(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST)); /* the call */
    sink++;
}

static APART void plain(void)
{
    allocate(); /* plain */
    sink++;
}

/* A frame that is as large as is known only at run time, and one that is aligned. */
static APART void aligned(int bytes)
{
    char *room = alloca((size_t)bytes);
    _Alignas(256) char wide[256];
    memset(room, 1, (size_t)bytes);
    memset(wide, 2, sizeof wide);
    allocate(); /* aligned */
    sink += room[bytes / 2] + wide[17];
}

static APART void deep(int left)
{
    volatile char room[200];
    room[0] = (char)left;
    if (left > 0) {
        deep(left - 1); /* deep */
    } else {
        allocate();
    }
    sink += room[0];
}

static void *in_thread(void *unused)
{
    DO(aclrtSetDevice(0));
    allocate(); /* thread */
    sink++;
    return unused;
}

static void threads(size_t bytes, int count)
{
    pthread_t all[16];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (bytes > 0) {
        require(pthread_attr_setstacksize(&attributes, bytes) == 0, "a stack of this size");
    }
    for (int i = 0; i < count; i++) {
        require(pthread_create(&all[i], &attributes, in_thread, NULL) == 0, "a thread");
    }
    for (int i = 0; i < count; i++) {
        pthread_join(all[i], NULL);
    }
}

static void in_handler(int signal)
{
    sink += signal;
    allocate(); /* handler */
    sink++;
}

static APART void interrupted(void)
{
    raise(SIGUSR1); /* interrupted */
    sink++;
}

static void handler(int flags)
{
    stack_t alternate = {.ss_size = 256 * 1024};
    alternate.ss_sp = malloc(alternate.ss_size);
    sigaltstack(&alternate, NULL);
    struct sigaction action = {.sa_handler = in_handler, .sa_flags = flags};
    sigaction(SIGUSR1, &action, NULL);
    interrupted();
}

static ucontext_t outside;

static void in_coroutine(void)
{
    allocate(); /* coroutine */
    sink++;
}

static void coroutine(void)
{
    enum { BYTES = 256 * 1024, PAGE = 4096 };
    static ucontext_t inside;
    /* A page that cannot be touched is above it. */
    char *stack = mmap(NULL, BYTES + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(stack + BYTES, PAGE, PROT_NONE);
    for (int i = 0; i < 100; i++) {
        getcontext(&inside);
        inside.uc_stack.ss_sp = stack;
        inside.uc_stack.ss_size = BYTES;
        inside.uc_link = &outside;
        makecontext(&inside, in_coroutine, 0);
        swapcontext(&outside, &inside);
    }
}

static void child(void)
{
    plain();
    pid_t pid = fork();
    if (pid == 0) {
        aclInit(NULL);
        DO(aclrtSetDevice(0));
        plain();
        _exit(0);
    }
    report_child("child", pid);
}

static void library(const char *path)
{
    for (int i = 0; i < 3; i++) {
        void *handle = dlopen(path, RTLD_NOW);
        require(handle != NULL, "the library");
        void (*call)(void) = (void (*)(void))dlsym(handle, "call_in_library");
        require(call != NULL, "its function");
        call();
        dlclose(handle);
    }
}

/* Code that is made at run time, with a frame pointer, and the map of it that `perf` reads. */
static void made(void)
{
#ifdef __x86_64__
    /* push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
    static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
    char path[64];
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(memory, code, sizeof code);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(path, "w");
    fprintf(map, "%lx %lx py::forward:/srv/net/model.py\n", (unsigned long)memory, (unsigned long)sizeof code);
    fclose(map);
    ((void (*)(void (*)(void)))memory)(allocate);
#endif
}

static void hang(void)
{
    aclrtStream stream;
    aclrtEvent event;
    DO(aclrtCreateStream(&stream));
    DO(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    DO(aclrtStreamWaitEvent(stream, event));
    /* What the tests wait for. */
    printf("stuck %d\n", (int)getpid());
    fflush(stdout);
    DO(aclrtSynchronizeStream(stream)); /* hang */
}

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "plain";
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    if (!strcmp(name, "plain")) {
        plain();
    } else if (!strcmp(name, "aligned")) {
        aligned(count + 1000);
    } else if (!strcmp(name, "deep")) {
        deep(60);
    } else if (!strcmp(name, "threads")) {
        threads(0, 12);
    } else if (!strcmp(name, "small")) {
        threads(64 * 1024, 4);
    } else if (!strcmp(name, "handler")) {
        handler(0);
    } else if (!strcmp(name, "alternate")) {
        handler(SA_ONSTACK);
    } else if (!strcmp(name, "coroutine")) {
        coroutine();
    } else if (!strcmp(name, "child")) {
        child();
    } else if (!strcmp(name, "library")) {
        library(words[2]);
    } else if (!strcmp(name, "made")) {
        made();
    } else if (!strcmp(name, "hang")) {
        hang();
    }
    printf("%s\n", name);
    return 0;
}
