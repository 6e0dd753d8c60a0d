/* Does what scripts say, in virtual time: tests/it/reruns/script.rs describes the operations. Words: the script of the main
 * thread, and that of a second one. Prints a sum over what the host has read. */
#include "program.h"

enum { STREAMS = 8, EVENTS = 64, GRAPHS = 4, BYTES = 1 << 20, LINE = 64, SIGNALS = 4, POSTS = 1024 };

/* A thread goes on so long after a post. */
enum { WAKING_NS = 5000 };

/* softacl's own; docs/SOFTACL.md. */
uint64_t softaclNow(void);
void softaclWork(uint64_t nanoseconds);
void softaclReach(uint64_t nanoseconds);

/* Of the second thread: its script, when it begins, and when it has ended. */
struct other {
    const char *path;
    pthread_t thread;
    uint64_t begin, end;
};

/* What threads wait for outside of AscendCL: the times of all posts. */
struct signal {
    uint64_t posted_at[POSTS];
    unsigned posts, waits;
};

static struct signal signals[SIGNALS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t posted = PTHREAD_COND_INITIALIZER;

static aclrtStream streams[STREAMS];
static aclrtEvent events[EVENTS];
static aclmdlRI graphs[GRAPHS];
static uint8_t *from, *to, *other_memory, *host_from, *host_to;
static uint64_t sum;

static void work(void *microseconds)
{
    softaclWork(1000 * (uint64_t)(uintptr_t)microseconds);
}

static void post(void *given)
{
    struct signal *signal = given;

    pthread_mutex_lock(&lock);
    require(signal->posts < POSTS, "there is room for a post");
    signal->posted_at[signal->posts++] = softaclNow();
    pthread_cond_broadcast(&posted);
    pthread_mutex_unlock(&lock);
}

static void await(struct signal *signal)
{
    uint64_t at;

    pthread_mutex_lock(&lock);
    while (signal->waits >= signal->posts) {
        pthread_cond_wait(&posted, &lock);
    }
    at = signal->posted_at[signal->waits++];
    pthread_mutex_unlock(&lock);
    softaclReach(at + WAKING_NS);
}

/* Asks until it is done. */
static void poll_stream(aclrtStream stream)
{
    aclrtStreamStatus status;

    do {
        DO(aclrtStreamQuery(stream, &status));
    } while (status != ACL_STREAM_STATUS_COMPLETE);
}

static void poll_event(aclrtEvent event)
{
    aclrtEventRecordedStatus status;

    do {
        DO(aclrtQueryEventStatus(event, &status));
    } while (status != ACL_EVENT_RECORDED_STATUS_COMPLETE);
}

static void make_event(aclrtEvent *event)
{
    DO(aclrtCreateEventExWithFlag(event, ACL_EVENT_SYNC));
}

static void begin_capture(aclrtStream stream)
{
    DO(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
}

/* The host reads what was copied to it. */
static void read_host(unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        sum = 31 * sum + host_to[i];
    }
}

static void move(char op, aclrtStream stream, unsigned bytes)
{
    static uint8_t value;

    switch (op) {
    case 'c': DO(aclrtMemcpyAsync(to, BYTES, from, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream)); break;
    case 'f': DO(aclrtMemsetAsync(from, BYTES, ++value, bytes, stream)); break;
    case 'x': DO(aclrtMemsetAsync(other_memory, BYTES, 1, bytes, stream)); break;
    case 'm':
        DO(aclrtReduceAsync(to, from, bytes, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT8, stream, NULL));
        break;
    case 'i':
        DO(aclrtMemcpyAsync(from, BYTES, host_from, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        break;
    case 'u': DO(aclrtMemcpyAsync(host_to, BYTES, to, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream)); break;
    default: require(0, "the operation is known");
    }
}

static void play(const char *path, struct other *other);

static void *begin_other(void *given)
{
    struct other *own = given;

    softaclReach(own->begin);
    DO(aclrtSetDevice(0));
    play(own->path, NULL);
    own->end = softaclNow();
    return NULL;
}

static void threads(char op, struct other *other)
{
    require(other != NULL && other->path != NULL, "there is a second script");
    if (op == 't') {
        other->begin = softaclNow();
        require(pthread_create(&other->thread, NULL, begin_other, other) == 0, "a thread begins");
    } else {
        require(pthread_join(other->thread, NULL) == 0, "a thread ends");
        softaclReach(other->end);
    }
}

static void act(char op, unsigned a, unsigned b, struct other *other)
{
    switch (op) {
    case 's': DO(aclrtCreateStream(&streams[a])); break;
    case 'e': make_event(&events[a]); break;
    case 'r': DO(aclrtRecordEvent(events[a], streams[b])); break;
    case 'w': DO(aclrtStreamWaitEvent(streams[a], events[b])); break;
    case 'y': DO(aclrtSynchronizeStream(streams[a])); break;
    case 'z': DO(aclrtSynchronizeEvent(events[a])); break;
    case 'v': DO(aclrtSynchronizeDevice()); break;
    case 'b': DO(aclrtMemcpy(from, BYTES, host_from, a, ACL_MEMCPY_HOST_TO_DEVICE)); break;
    case 'h': DO(aclrtLaunchHostFunc(streams[a], work, (void *)(uintptr_t)b)); break;
    case 'p': work((void *)(uintptr_t)a); break;
    case 'a': read_host(a); break;
    case 'G': begin_capture(streams[a]); break;
    case 'E': DO(aclmdlRICaptureEnd(streams[a], &graphs[b])); break;
    case 'l': DO(aclmdlRIExecuteAsync(graphs[a], streams[b])); break;
    case 't': case 'j': threads(op, other); break;
    case 'q': poll_stream(streams[a]); break;
    case 'Q': poll_event(events[a]); break;
    case 'n': post(&signals[a]); break;
    case 'o': await(&signals[a]); break;
    case 'H': DO(aclrtLaunchHostFunc(streams[a], post, &signals[b])); break;
    default: move(op, streams[a], b);
    }
}

static void play(const char *path, struct other *other)
{
    char line[LINE], op;
    unsigned a, b;
    FILE *script = fopen(path, "r");

    require(script != NULL, "there is a script");
    while (fgets(line, sizeof line, script) != NULL) {
        a = b = 0;
        require(sscanf(line, "%c %u %u", &op, &a, &b) >= 1, "a line has an operation");
        act(op, a, b, other);
    }
    fclose(script);
}

int main(int argc, char **argv)
{
    struct other other = {.path = argc > 2 ? argv[2] : NULL};

    require(argc > 1, "there is a script");
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc((void **)&from, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMalloc((void **)&to, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMalloc((void **)&other_memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMallocHost((void **)&host_from, BYTES));
    DO(aclrtMallocHost((void **)&host_to, BYTES));
    memset(host_from, 7, BYTES);
    play(argv[1], &other);
    printf("sum %llu\n", (unsigned long long)sum);
    return 0;
}
