/* Does what a script says, line by line; crates/read/testkit/src/scenario.rs tells the operations. */
#include <stdatomic.h>

#include "program.h"

enum { STREAMS = 8, EVENTS = 8, BYTES = 1 << 20 };

static atomic_int gates_open;

static void work(void *microseconds)
{
    usleep((useconds_t)(uintptr_t)microseconds);
}

static void wait_at_gate(void *number)
{
    while (gates_open < (int)(uintptr_t)number) {
        usleep(20);
    }
}

int main(int argc, char **argv)
{
    aclrtStream streams[STREAMS] = {0};
    aclrtEvent events[EVENTS] = {0};
    void *from, *to;
    char op;
    unsigned a, b;
    char line[64];
    long calls = 0;
    int gate = 1;
    FILE *script = argc > 1 ? fopen(argv[1], "r") : NULL;

    require(script != NULL, "there is a script");
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc(&from, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMalloc(&to, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    while (fgets(line, sizeof line, script) != NULL) {
        a = b = 0;
        require(sscanf(line, "%c %u %u", &op, &a, &b) >= 1, "a line has an operation");
        calls += op != 'p' && op != 'o';
        switch (op) {
        case 's': DO(aclrtCreateStream(&streams[a])); break;
        case 'x': DO(aclrtDestroyStream(streams[a])); break;
        case 'e': DO(aclrtCreateEventExWithFlag(&events[a], ACL_EVENT_SYNC)); break;
        case 'd': DO(aclrtDestroyEvent(events[a])); break;
        case 'c':
            DO(aclrtMemcpyAsync(to, BYTES, from, b, ACL_MEMCPY_DEVICE_TO_DEVICE, streams[a]));
            break;
        case 'r': DO(aclrtRecordEvent(events[a], streams[b])); break;
        case 'w': DO(aclrtStreamWaitEvent(streams[a], events[b])); break;
        case 'y': DO(aclrtSynchronizeStream(streams[a])); break;
        case 'z': DO(aclrtSynchronizeEvent(events[a])); break;
        case 'h': DO(aclrtLaunchHostFunc(streams[a], work, (void *)(uintptr_t)b)); break;
        case 'g':
            DO(aclrtLaunchHostFunc(streams[a], wait_at_gate, (void *)(uintptr_t)gate));
            break;
        case 'o':
            gates_open = gate;
            gate++;
            break;
        case 'p': usleep(a); break;
        default: require(0, "the operation is known");
        }
    }
    fclose(script);
    printf("%ld calls\n", calls);
    return 0;
}
