// After answers that change because somebody looked. A record's time can be read only after its program has
// seen it done: a query or a synchronisation of the tool's own must not do that for it. Every short sequence
// of records, queries, synchronisations and reads over two events and two streams is made, each on a device
// of its own, with the device done and a pause after each step; the answers are printed.
//
//   looks LENGTH [ex|plain]
#include <acl/acl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE_BY_SIDE = 64, OPERATIONS = 13, PREFIXES = 3, BYTES = 64, MOST_STEPS = 8 };

typedef struct {
    aclrtContext context;
    void *memory;
    aclrtEvent events[2];
    aclrtStream streams[2];
    int codes[MOST_STEPS + 2];
    int steps;
} Sequence;

static Sequence all[SIDE_BY_SIDE];
static atomic_long passed;
static long submitted;

static void check(int code, const char *what) {
    if (code != 0) {
        printf("%s: %d\n", what, code);
        exit(1);
    }
}

static void pass(void *data) {
    (void)data;
    atomic_fetch_add(&passed, 1);
}

// The device is seen to be done by what it did, and not by asking about streams or events.
static int record(Sequence *it, int event, int stream) {
    check(aclrtSetCurrentContext(it->context), "context");
    check(aclrtMemsetAsync(it->memory, BYTES, 1, BYTES, it->streams[stream]), "memset");
    int code = aclrtRecordEvent(it->events[event], it->streams[stream]);
    check(aclrtLaunchHostFunc(it->streams[stream], pass, NULL), "host function");
    submitted++;
    return code;
}

static void settle(void) {
    while (atomic_load(&passed) < submitted) usleep(100);
    usleep(12000);
}

static int operate(Sequence *it, int operation) {
    check(aclrtSetCurrentContext(it->context), "context");
    float milliseconds = 0;
    uint64_t moment = 0;
    aclrtEventRecordedStatus status = 0;
    int which = operation & 1;
    switch (operation) {
    case 0: case 1: case 2: case 3: return record(it, which, operation >> 1);
    case 4: case 5: {
        int code = aclrtQueryEventStatus(it->events[which], &status);
        return code != 0 ? code : (int)status;
    }
    case 6: case 7: return aclrtSynchronizeEvent(it->events[which]);
    case 8: case 9: return aclrtSynchronizeStream(it->streams[which]);
    case 10: case 11: return aclrtEventGetTimestamp(it->events[which], &moment);
    default: return aclrtEventElapsedTime(&milliseconds, it->events[0], it->events[1]);
    }
}

static void begin(Sequence *it, int device, const char *kind) {
    it->steps = 0;
    check(aclrtCreateContext(&it->context, device), "context");
    check(aclrtMalloc(&it->memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), "memory");
    for (int i = 0; i < 2; i++) {
        check(aclrtCreateStream(&it->streams[i]), "stream");
        if (strcmp(kind, "ex") == 0) {
            check(aclrtCreateEventExWithFlag(&it->events[i], ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC), "event");
        } else {
            check(aclrtCreateEvent(&it->events[i]), "event");
        }
    }
}

static void end(Sequence *it, long number) {
    check(aclrtSetCurrentContext(it->context), "context");
    printf("%ld:", number);
    for (int i = 0; i < it->steps; i++) printf(" %d", it->codes[i]);
    printf("\n");
    for (int i = 0; i < 2; i++) {
        check(aclrtSynchronizeStream(it->streams[i]), "last");
        check(aclrtDestroyEvent(it->events[i]), "destroy event");
        check(aclrtDestroyStream(it->streams[i]), "destroy stream");
    }
    check(aclrtFree(it->memory), "free");
    check(aclrtDestroyContext(it->context), "destroy context");
}

static int operation_of(long number, int step) {
    while (step-- > 0) number /= OPERATIONS;
    return (int)(number % OPERATIONS);
}

int main(int count, char **words) {
    int length = count > 1 ? atoi(words[1]) : 3;
    const char *kind = count > 2 ? words[2] : "plain";
    if (length < 1 || length > MOST_STEPS) return 2;
    long sequences = 1;
    for (int i = 0; i < length; i++) sequences *= OPERATIONS;
    check(aclInit(NULL), "init");
    for (long first = 0; first < sequences * PREFIXES; first += SIDE_BY_SIDE) {
        long left = sequences * PREFIXES - first;
        int side = left < SIDE_BY_SIDE ? (int)left : SIDE_BY_SIDE;
        for (int i = 0; i < side; i++) begin(&all[i], i, kind);
        // Nothing, both events on one stream, or one on each.
        for (int i = 0; i < side; i++) {
            int prefix = (int)((first + i) % PREFIXES);
            if (prefix == 0) continue;
            all[i].codes[all[i].steps++] = record(&all[i], 0, 0);
            all[i].codes[all[i].steps++] = record(&all[i], 1, prefix - 1);
        }
        for (int step = 0; step < length; step++) {
            settle();
            for (int i = 0; i < side; i++) {
                int operation = operation_of((first + i) / PREFIXES, step);
                all[i].codes[all[i].steps++] = operate(&all[i], operation);
            }
        }
        for (int i = 0; i < side; i++) end(&all[i], first + i);
    }
    check(aclFinalize(), "finalize");
    return 0;
}
