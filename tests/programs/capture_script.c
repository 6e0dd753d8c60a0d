/* Executes a script of captures, joins and replays that it reads from standard input, and prints the
 * codes of its calls and the memory at the end of each case. crates/read/testkit/src/captures writes
 * such scripts. One operation a line:
 *
 *   c            a case begins: memory is reset
 *   o            it ends: everything is waited for and printed
 *   b S MODE     stream S begins to be captured        e S G   the capture becomes graph G
 *   r E S        event E is recorded on S              w S E   S waits for E
 *   u D H S      copies cell H of the host to cell D of the device;  d H D S  the other way
 *   k TO FROM S  copies within the device              z D BYTE S  fills a cell of the device
 *   m A B K S    a host function: cell A of the host becomes A * 31 + B + K
 *   x G S        replays graph G on S                  f G     destroys it
 *   y S          waits for S      q E   asks whether E is done      p   copies and waits
 */
#include <acl/acl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS 4
#define CELLS 6
#define EVENTS 4096
#define GRAPHS 64
#define CELL sizeof(uint32_t)

static aclrtStream streams[STREAMS];
static aclrtEvent events[EVENTS];
static aclmdlRI graphs[GRAPHS];
static uint32_t *host, *device, *scratch;

struct mix {
    uint32_t *to, *from, add;
};

static void mix(void *data)
{
    const struct mix *work = data;
    *work->to = *work->to * 31 + *work->from + work->add;
}

static void must(aclError code, const char *what)
{
    if (code != ACL_SUCCESS) {
        printf("%s failed: %d\n", what, code);
        exit(1);
    }
}

static aclrtEvent event(int number)
{
    if (events[number] == NULL) {
        /* Every third has times as well. Those of `aclrtCreateEvent` cannot be captured. */
        uint32_t flag = number % 3 == 2 ? ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE : ACL_EVENT_SYNC;
        must(aclrtCreateEventExWithFlag(&events[number], flag), "an event");
    }
    return events[number];
}

static aclError submit_mix(const int *a)
{
    /* A graph may run it at any later time, so it stays. */
    struct mix *work = malloc(sizeof *work);
    *work = (struct mix){&host[a[0]], &host[a[1]], (uint32_t)a[2]};
    return aclrtLaunchHostFunc(streams[a[3]], mix, work);
}

static aclError query(int number)
{
    aclrtEventRecordedStatus status;
    return aclrtQueryEventStatus(event(number), &status);
}

static aclError run(char what, const int *a)
{
    switch (what) {
    case 'b': return aclmdlRICaptureBegin(streams[a[0]], (aclmdlRICaptureMode)a[1]);
    case 'e': return aclmdlRICaptureEnd(streams[a[0]], &graphs[a[1]]);
    case 'r': return aclrtRecordEvent(event(a[0]), streams[a[1]]);
    case 'w': return aclrtStreamWaitEvent(streams[a[0]], event(a[1]));
    case 'u':
        return aclrtMemcpyAsync(&device[a[0]], CELL, &host[a[1]], CELL, ACL_MEMCPY_HOST_TO_DEVICE,
                                streams[a[2]]);
    case 'd':
        return aclrtMemcpyAsync(&host[a[0]], CELL, &device[a[1]], CELL, ACL_MEMCPY_DEVICE_TO_HOST,
                                streams[a[2]]);
    case 'k':
        return aclrtMemcpyAsync(&device[a[0]], CELL, &device[a[1]], CELL,
                                ACL_MEMCPY_DEVICE_TO_DEVICE, streams[a[2]]);
    case 'z': return aclrtMemsetAsync(&device[a[0]], CELL, a[1], CELL, streams[a[2]]);
    case 'm': return submit_mix(a);
    case 'x': return aclmdlRIExecuteAsync(graphs[a[0]], streams[a[1]]);
    case 'f': return aclmdlRIDestroy(graphs[a[0]]);
    case 'y': return aclrtSynchronizeStream(streams[a[0]]);
    case 'q': return query(a[0]);
    case 'p': return aclrtMemcpy(scratch, CELL, &host[0], CELL, ACL_MEMCPY_HOST_TO_DEVICE);
    default: printf("no such operation: %c\n", what); exit(1);
    }
}

static void begin_case(void)
{
    uint32_t values[CELLS];
    for (uint32_t i = 0; i < CELLS; i++) {
        host[i] = i + 1;
        values[i] = CELLS + i + 1;
    }
    must(aclrtMemcpy(device, sizeof values, values, sizeof values, ACL_MEMCPY_HOST_TO_DEVICE),
         "a copy");
    memset(graphs, 0, sizeof graphs);
}

static void end_case(void)
{
    uint32_t values[CELLS];
    must(aclrtSynchronizeDevice(), "the wait");
    must(aclrtMemcpy(values, sizeof values, device, sizeof values, ACL_MEMCPY_DEVICE_TO_HOST),
         "a copy");
    printf(":");
    for (int i = 0; i < CELLS; i++) {
        printf(" %u", host[i]);
    }
    for (int i = 0; i < CELLS; i++) {
        printf(" %u", values[i]);
    }
    printf("\n");
}

static void play(void)
{
    char line[100], what;
    int is_first = 1;
    while (fgets(line, sizeof line, stdin) != NULL) {
        int a[4] = {0};
        sscanf(line, "%c %d %d %d %d", &what, &a[0], &a[1], &a[2], &a[3]);
        if (what == 'c') {
            begin_case();
            is_first = 1;
        } else if (what == 'o') {
            end_case();
        } else {
            printf(is_first ? "%d" : " %d", run(what, a));
            is_first = 0;
        }
    }
}

int main(void)
{
    int32_t id;
    must(aclInit(NULL), "aclInit");
    must(aclrtSetDevice(0), "aclrtSetDevice");
    for (int i = 0; i < STREAMS; i++) {
        must(aclrtCreateStream(&streams[i]), "a stream");
        must(aclrtStreamGetId(streams[i], &id), "its id");
    }
    must(aclrtMallocHost((void **)&host, CELLS * CELL), "host memory");
    must(aclrtMalloc((void **)&device, CELLS * CELL, ACL_MEM_MALLOC_HUGE_FIRST), "device memory");
    must(aclrtMalloc((void **)&scratch, CELL, ACL_MEM_MALLOC_HUGE_FIRST), "device memory");
    play();
    must(aclrtResetDevice(0), "aclrtResetDevice");
    must(aclFinalize(), "aclFinalize");
    return 0;
}
