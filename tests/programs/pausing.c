/* Pauses the recording, and does in the meantime what later calls depend on: a stream, memory, an event, a graph. */
#include "program.h"

#include <dlfcn.h>

#include "acl/acl_rt.h"

enum { BYTES = 4096, BEFORE = 5, MEANWHILE = 7, AFTER = 3, OTHER = 2 };

typedef void (*Switch)(void);

static void fill(void *buffer, int times, aclrtStream stream)
{
    for (int i = 0; i < times; i++) {
        DO(aclrtMemsetAsync(buffer, BYTES, i, BYTES, stream));
    }
}

static void *call(void *function)
{
    if (function != NULL) {
        ((Switch)function)();
    }
    return NULL;
}

int main(void)
{
    aclrtStream stream, made;
    aclrtEvent event;
    aclmdlRI graph;
    void *buffer, *other;
    pthread_t thread;

    /* Without the tracer there are no such functions, and the program does the same. */
    void *pause_it = dlsym(RTLD_DEFAULT, "ascend_trace_pause");
    void *resume_it = dlsym(RTLD_DEFAULT, "ascend_trace_resume");

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtCreateEvent(&event));
    DO(aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    fill(buffer, BEFORE, stream);
    DO(aclrtSynchronizeStream(stream));

    call(pause_it);
    call(pause_it);
    fill(buffer, MEANWHILE, stream);
    DO(aclrtCreateStream(&made));
    DO(aclrtMalloc(&other, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtRecordEvent(event, stream));
    DO(aclrtSynchronizeStream(stream));
    DO(aclmdlRICaptureBegin(made, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    fill(other, 1, made);
    DO(aclmdlRICaptureEnd(made, &graph));
    usleep(30000);
    /* Whoever resumes need not be who has paused. */
    pthread_create(&thread, NULL, call, resume_it);
    pthread_join(thread, NULL);
    call(resume_it);

    fill(buffer, AFTER, stream);
    DO(aclrtStreamWaitEvent(made, event));
    fill(other, OTHER, made);
    DO(aclmdlRIExecuteAsync(graph, made));
    DO(aclrtSynchronizeStream(stream));
    DO(aclrtSynchronizeStream(made));
    DO(aclmdlRIDestroy(graph));
    DO(aclrtFree(other));
    DO(aclrtFree(buffer));
    DO(aclrtDestroyEvent(event));
    DO(aclrtDestroyStream(made));
    DO(aclrtDestroyStream(stream));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    printf("done\n");
    return 0;
}
