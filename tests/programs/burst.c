/* Makes a number of cheap calls in each of several threads, as fast as it can, and says how many they
 * were. With `wait`, it waits for a line of input first. With `ask`, it does so as well, and its calls ask about an event;
 * tasks come after them. */
#include "program.h"

enum { MOST = 256 };

static long calls;
static int is_asking;
static pthread_barrier_t all_done;

/* Asks far more often than there is room for in memory, and then submits tasks. */
static void ask(void)
{
    enum { TASKS = 200, BYTES = 64 };
    aclrtEventRecordedStatus status;
    aclrtEvent event;
    aclrtStream stream;
    void *memory;

    DO(aclrtCreateEvent(&event));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtRecordEvent(event, stream));
    for (long i = 0; i < calls; i++) {
        DO(aclrtQueryEventStatus(event, &status));
    }
    calls = 0;
    for (int i = 0; i < TASKS; i++) {
        DO(aclrtMemsetAsync(memory, BYTES, i, BYTES, stream));
    }
    DO(aclrtSynchronizeStream(stream));
}

static void *work(void *unused)
{
    int32_t device;

    (void)unused;
    DO(aclrtSetDevice(0));
    if (is_asking) {
        ask();
    }
    for (long i = 0; i < calls; i++) {
        DO(aclrtGetDevice(&device));
    }
    /* Every thread is still there when the last one is done. */
    pthread_barrier_wait(&all_done);
    pthread_barrier_wait(&all_done);
    return NULL;
}

/* Resident memory of this process in KiB. */
static long resident(void)
{
    char line[256];
    long amount = -1;
    FILE *file = fopen("/proc/self/status", "r");

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "VmRSS: %ld", &amount) == 1) {
            break;
        }
    }
    return amount;
}

int main(int count, char **words)
{
    pthread_t threads[MOST];
    int number = count > 2 ? atoi(words[1]) : 0;
    char line[16];

    require(number >= 1 && number <= MOST, "threads and calls are named");
    calls = atol(words[2]);
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    is_asking = count > 3 && strcmp(words[3], "ask") == 0;
    if (is_asking || (count > 3 && strcmp(words[3], "wait") == 0)) {
        printf("ready\n");
        fflush(stdout);
        require(fgets(line, sizeof line, stdin) != NULL, "there is a line");
    }
    require(pthread_barrier_init(&all_done, NULL, (unsigned)number + 1) == 0, "a barrier");
    for (int i = 0; i < number; i++) {
        require(pthread_create(&threads[i], NULL, work, NULL) == 0, "a thread starts");
    }
    pthread_barrier_wait(&all_done);
    printf("made %ld\n", calls * number);
    if (count > 3 && strcmp(words[3], "memory") == 0) {
        printf("resident %ld\n", resident());
    }
    fflush(stdout);
    pthread_barrier_wait(&all_done);
    for (int i = 0; i < number; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
