/* Steps of known work. Step i fills i * 64 bytes twice, replays a graph and waits. A stream, memory, an event and the graph
 * are made before the first step. Arguments: number of steps; milliseconds between them; then `resume` for one that resumes
 * the recording before step 4, or `ask` for one that prints steps 4 and 7 and then waits for a line. */
#include "program.h"

#include <dlfcn.h>

#include "acl/acl_rt.h"

enum { UNIT = 64, FIRST = 4, AFTER = 7 };

uint64_t mstxRangeStartA(const char *message, aclrtStream stream);
void mstxRangeEnd(uint64_t id);

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 9;
    int pause = argc > 2 ? atoi(argv[2]) : 0;
    const char *way = argc > 3 ? argv[3] : "";
    size_t bytes = (size_t)UNIT * (size_t)(steps + 1);
    aclrtStream stream, other;
    aclrtEvent event;
    aclmdlRI graph;
    void *buffer;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtCreateStream(&other));
    DO(aclrtCreateEvent(&event));
    DO(aclrtMalloc(&buffer, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclmdlRICaptureBegin(other, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    DO(aclrtMemsetAsync(buffer, bytes, 0, bytes, other));
    DO(aclmdlRICaptureEnd(other, &graph));
    DO(aclrtRecordEvent(event, stream));
    for (int i = 1; i <= steps; i++) {
        char name[32];
        uint64_t range;

        if (strcmp(way, "ask") == 0 && (i == FIRST || i == AFTER)) {
            printf("step %d\n", i);
            fflush(stdout);
            while (getchar() != '\n') {
            }
        }
        if (strcmp(way, "resume") == 0 && i == FIRST) {
            void *resume = dlsym(RTLD_DEFAULT, "ascend_trace_resume");
            if (resume != NULL) {
                ((void (*)(void))resume)();
            }
        }
        usleep((useconds_t)pause * 1000);
        snprintf(name, sizeof(name), "step %d", i);
        range = mstxRangeStartA(name, NULL);
        DO(aclrtMemsetAsync(buffer, bytes, i, (size_t)i * UNIT, stream));
        DO(aclrtMemsetAsync(buffer, bytes, i, (size_t)i * UNIT, stream));
        DO(aclmdlRIExecuteAsync(graph, other));
        DO(aclrtSynchronizeStream(stream));
        DO(aclrtSynchronizeStream(other));
        mstxRangeEnd(range);
    }
    DO(aclrtStreamWaitEvent(other, event));
    DO(aclrtSynchronizeStream(other));
    DO(aclmdlRIDestroy(graph));
    DO(aclrtFree(buffer));
    DO(aclrtDestroyEvent(event));
    DO(aclrtDestroyStream(other));
    DO(aclrtDestroyStream(stream));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    printf("done %d\n", steps);
    return 0;
}
