// After programs that end what they have made, and themselves, at any moment. Each child of this process is a random
// program: streams, contexts and devices that are destroyed, by force or not, aborts, errors and their texts, captures,
// calls of AscendCL and of the layer below it. It ends by itself, by a signal or in another program, with another
// thread at work or not. What it is answered is printed; it does not depend on time.
//
//   random_ends FIRST COUNT
#include <acl/acl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../programs/below.h"

enum { BYTES = 4096, STREAMS = 4, EVENTS = 3, INT32 = 3, SUM = 10, COPY = 3 };

static uint64_t state;
static aclrtStream streams[STREAMS];
static aclrtEvent events[EVENTS];
static int is_recorded[EVENTS];
static aclrtContext context;
static void *memory, *other;
static int is_set;

static uint32_t below(uint32_t bound) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % bound;
}

static void say(const char *what, int code) {
    printf("%s %d\n", what, code);
}

static void nap(void *data) {
    usleep((useconds_t)(uintptr_t)data);
}

// Everything of the device is gone.
static void forget(void) {
    memset(streams, 0, sizeof streams);
    memset(events, 0, sizeof events);
    memset(is_recorded, 0, sizeof is_recorded);
    context = NULL;
    memory = other = NULL;
    is_set = 0;
}

static void begin(void) {
    say("set", below(2) ? aclrtSetDevice(0) : rtSetDevice(0));
    is_set = 1;
    if (memory == NULL) {
        say("memory", aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        say("memory", rtMalloc(&other, BYTES, 2, 0));
    }
}

static void submit(aclrtStream stream) {
    switch (below(6)) {
    case 0: say("fill", aclrtMemsetAsync(memory, BYTES, 1, BYTES, stream)); break;
    case 1: say("fill below", rtMemsetAsync(memory, BYTES, 2, BYTES, stream)); break;
    case 2: say("copy", aclrtMemcpyAsync(other, BYTES, memory, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, stream)); break;
    case 3: say("sum below", rtReduceAsync(other, BYTES, memory, BYTES, SUM, INT32, stream)); break;
    case 4: say("kernel below", rtKernelLaunch(&state, 1, memory, 8, NULL, stream)); break;
    default: say("host", aclrtLaunchHostFunc(stream, nap, (void *)(uintptr_t)below(300))); break;
    }
}

static void capture(aclrtStream stream) {
    aclmdlRI model = NULL;
    say("begin", below(2) ? rtStreamBeginCapture(stream, 0)
                          : aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    say("captured", rtMemsetAsync(memory, BYTES, 3, BYTES, stream));
    say("captured", aclrtMemsetAsync(memory, BYTES, 4, BYTES, stream));
    if (below(8) == 0) return; // The capture stays open.
    say("end", below(2) ? rtStreamEndCapture(stream, &model) : aclmdlRICaptureEnd(stream, &model));
    if (model == NULL) return;
    say("replay", below(2) ? rtModelExecute(model, stream, 0) : aclmdlRIExecuteAsync(model, stream));
    say("wait", aclrtSynchronizeStream(stream));
    say("graph", aclmdlRIDestroy(model));
}

static void fail(aclrtStream stream) {
    uint64_t time;
    switch (below(5)) {
    case 0: say("too much", aclrtMemsetAsync(memory, 8, 1, BYTES, stream)); break;
    case 1: say("too much below", rtMemcpyAsync(other, 8, memory, BYTES, COPY, stream)); break;
    case 2: say("no place", aclrtGetDevice(NULL)); break;
    case 3: say("no device", rtDeviceReset(77)); break;
    default: say("no event", aclrtEventGetTimestamp(NULL, &time)); break;
    }
    if (below(2)) {
        const char *text = aclGetRecentErrMsg();
        printf("text: %s\n", text ? text : "none");
    } else if (below(2)) {
        say("last", aclrtGetLastError(ACL_RT_THREAD_LEVEL));
    }
}

static void on_event(uint32_t which, aclrtStream stream) {
    aclrtEvent *event = &events[which];
    if (*event == NULL) {
        say("event", below(2) ? aclrtCreateEventExWithFlag(event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE)
                              : rtEventCreateExWithFlag(event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
        is_recorded[which] = 0;
    }
    switch (below(4)) {
    case 0:
        say("record", below(2) ? aclrtRecordEvent(*event, stream) : rtEventRecord(*event, stream));
        is_recorded[which] = 1;
        break;
    case 1:
        if (is_recorded[which]) say("await", rtStreamWaitEvent(stream, *event));
        break;
    case 2:
        if (is_recorded[which]) say("sync event", aclrtSynchronizeEvent(*event));
        break;
    default:
        say("no event", below(2) ? aclrtDestroyEvent(*event) : rtEventDestroy(*event));
        *event = NULL;
        break;
    }
}

static void step(void) {
    uint32_t at = below(STREAMS), kind = below(40);
    aclrtStream *stream = &streams[at];
    if (!is_set) {
        begin();
        return;
    }
    if (*stream == NULL && kind < 30) {
        say("stream", below(2) ? aclrtCreateStream(stream) : rtStreamCreate(stream, 0));
        return;
    }
    switch (kind) {
    case 0: say("abort", aclrtStreamAbort(*stream)); break;
    case 1:
    case 2:
        say("destroy", below(2) ? aclrtDestroyStream(*stream) : rtStreamDestroy(*stream));
        *stream = NULL;
        break;
    case 3:
    case 4:
        say("destroy by force", below(2) ? aclrtDestroyStreamForce(*stream) : rtStreamDestroyForce(*stream));
        *stream = NULL;
        break;
    case 5: capture(*stream); break;
    case 6:
    case 7: fail(*stream); break;
    case 8:
    case 9:
    case 10: say("wait", below(2) ? aclrtSynchronizeStream(*stream) : rtStreamSynchronize(*stream)); break;
    case 11:
    case 12:
    case 13:
    case 14: on_event(below(EVENTS), *stream); break;
    case 15: usleep(below(3000)); break;
    case 30:
        say("reset", below(2) ? aclrtResetDevice(0) : rtDeviceReset(0));
        forget();
        break;
    case 31:
        say("reset by force", below(2) ? aclrtResetDeviceForce(0) : rtDeviceResetForce(0));
        forget();
        break;
    case 32:
        if (context == NULL) {
            aclrtContext own;
            say("own context", aclrtGetCurrentContext(&own));
            say("context", rtCtxCreate(&context, 0, 0));
            say("fill there", rtMemsetAsync(memory, BYTES, 5, BYTES, NULL));
            say("back", rtCtxSetCurrent(own));
        } else {
            say("no context", below(2) ? rtCtxDestroy(context) : aclrtDestroyContext(context));
            context = NULL;
        }
        break;
    case 33: say("wait for all", below(2) ? aclrtSynchronizeDevice() : rtDeviceSynchronize()); break;
    default:
        if (*stream != NULL) submit(*stream);
        break;
    }
}

static void *work(void *data) {
    aclrtStream own;
    void *place;
    (void)data;
    if (rtSetDevice(1) != 0 || rtStreamCreate(&own, 0) != 0 || rtMalloc(&place, BYTES, 2, 0) != 0) return NULL;
    for (;;) {
        for (int i = 0; i < 8; i++) rtMemsetAsync(place, BYTES, 1, BYTES, own);
        if (aclrtSynchronizeStream(own) != 0) return NULL;
        usleep(100);
    }
}

// Any of these may come while the device is at work.
static int finish(void) {
    fflush(stdout);
    switch (below(9)) {
    case 0: _exit(7); break;
    case 1: abort(); break;
    case 2: return raise(SIGKILL);
    case 3: return raise(SIGSEGV);
    case 4: return execl("/bin/true", "true", NULL);
    case 5: exit(9); break;
    case 6: say("finalize", aclFinalize()); break;
    case 7: say("reset", aclrtResetDeviceForce(0)); break;
    default: break;
    }
    return 0;
}

static int program(uint64_t seed) {
    pthread_t thread;
    state = seed * 0x9e3779b97f4a7c15u | 1;
    for (int i = 0; i < 8; i++) below(2);
    if (below(4) != 0) say("init", aclInit(NULL));
    if (below(3) == 0) pthread_create(&thread, NULL, work, NULL);
    for (uint32_t steps = 5 + below(60); steps > 0; steps--) step();
    return finish();
}

int main(int count, char **words) {
    uint64_t first = count > 1 ? strtoull(words[1], NULL, 10) : 1;
    int programs = count > 2 ? atoi(words[2]) : 20;
    for (int i = 0; i < programs; i++) {
        int status;
        pid_t child;
        fflush(stdout);
        child = fork();
        if (child == 0) return program(first + (uint64_t)i);
        if (child < 0 || waitpid(child, &status, 0) < 0) return 1;
        printf("program %llu: %x\n", (unsigned long long)first + (uint64_t)i, status);
    }
    return 0;
}
