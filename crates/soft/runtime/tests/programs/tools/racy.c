/* Runs programs of the test `adversarial.rs`: from standard input, one operation a line, each program after a line
 * `P`. For each it prints a hash of all values that it copied to the host, in its order. */
#include "../check.h"

enum { STREAMS = 4, EVENTS = 4, BLOCK = 256, BLOCKS = 8 };
#define INPUT (1ul << 20)
#define OUTPUT (1ul << 21)

static aclrtStream streams[STREAMS];
static aclrtEvent events[EVENTS];
static char *blocks[BLOCKS];
static uint64_t *input;
static uint64_t hash;

/* Where an address of the program is. What is copied to the host goes to `seen`. */
static void *place(unsigned long address, void *seen)
{
    if (address >= OUTPUT)
        return seen;
    if (address >= INPUT)
        return (char *)input + (address - INPUT);
    return blocks[address / BLOCK] + address % BLOCK;
}

static void add(uint64_t word)
{
    hash = (hash ^ word) * 0x100000001b3u;
}

static void copy_now(unsigned long to, unsigned long from, unsigned long bytes)
{
    uint64_t seen[BLOCK / 8];
    /* The direction follows from the addresses. */
    OK(aclrtMemcpy(place(to, seen), bytes, place(from, seen), bytes, ACL_MEMCPY_DEFAULT));
    if (to >= OUTPUT)
        for (unsigned long word = 0; word < bytes / 8; word++)
            add(seen[word]);
}

static void query(aclrtEvent event)
{
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    while (status != ACL_EVENT_RECORDED_STATUS_COMPLETE)
        OK(aclrtQueryEventStatus(event, &status));
}

static void run(char what, const unsigned long *n)
{
    void *memory;
    switch (what) {
    case 'c':
        OK(aclrtMemcpyAsync(place(n[1], NULL), n[3], place(n[2], NULL), n[3],
                            ACL_MEMCPY_DEFAULT, streams[n[0]]));
        break;
    case 'f':
        OK(aclrtMemsetAsync(place(n[1], NULL), n[2], (int32_t)n[3], n[2], streams[n[0]]));
        break;
    case 'b':
        copy_now(n[0], n[1], n[2]);
        break;
    case 'r':
        OK(aclrtRecordEvent(events[n[1]], streams[n[0]]));
        break;
    case 'w':
        OK(aclrtStreamWaitEvent(streams[n[0]], events[n[1]]));
        break;
    case 's':
        OK(aclrtSynchronizeStream(streams[n[0]]));
        break;
    case 'e':
        OK(aclrtSynchronizeEvent(events[n[0]]));
        break;
    case 'q':
        query(events[n[0]]);
        break;
    case 'd':
        OK(aclrtSynchronizeDevice());
        break;
    case 'm':
        OK(aclrtMalloc(&memory, BLOCK, ACL_MEM_MALLOC_HUGE_FIRST));
        blocks[n[0] / BLOCK] = memory;
        break;
    case 'x':
        OK(aclrtFree(blocks[n[0] / BLOCK]));
        blocks[n[0] / BLOCK] = NULL;
        break;
    default:
        EXPECT(what, 'c');
    }
}

static void begin(void)
{
    hash = 0xcbf29ce484222325u;
    for (int stream = 0; stream < STREAMS; stream++)
        OK(aclrtCreateStream(&streams[stream]));
    for (int event = 0; event < EVENTS; event++)
        OK(aclrtCreateEvent(&events[event]));
}

static void end(void)
{
    for (int stream = 0; stream < STREAMS; stream++)
        OK(aclrtDestroyStream(streams[stream]));
    for (int event = 0; event < EVENTS; event++)
        OK(aclrtDestroyEvent(events[event]));
    for (int block = 0; block < BLOCKS; block++) {
        if (blocks[block])
            OK(aclrtFree(blocks[block]));
        blocks[block] = NULL;
    }
    printf("%016llx\n", (unsigned long long)hash);
}

int main(void)
{
    char line[128], what;
    int is_running = 0;
    start();
    OK(aclrtMallocHost((void **)&input, 1024));
    for (uint64_t word = 0; word < 128; word++)
        input[word] = (word + 1) * 0x9e3779b97f4a7c15u;
    while (fgets(line, sizeof line, stdin)) {
        unsigned long n[4] = {0, 0, 0, 0};
        if (sscanf(line, "%c %lu %lu %lu %lu", &what, &n[0], &n[1], &n[2], &n[3]) < 1)
            continue;
        if (what != 'P') {
            run(what, n);
            continue;
        }
        if (is_running)
            end();
        begin();
        is_running = 1;
    }
    if (is_running)
        end();
    return finish();
}
