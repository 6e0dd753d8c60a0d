/* What the programs of f_capture share. They print the codes of their calls and the nodes of their
 * graphs, but no address and no time: two runs of a program print the same, traced or not. */
#ifndef CAPTURE_H
#define CAPTURE_H

#include "check.h"
#include <pthread.h>
#include <unistd.h>

/* A call whose code is printed and checked. */
#define SAY(call, wanted)                                                                   \
    do {                                                                                    \
        aclError said_ = (call);                                                            \
        printf("%s -> %d\n", #call, said_);                                                 \
        EXPECT(said_, wanted);                                                              \
    } while (0)

#define GLOBAL ACL_MODEL_RI_CAPTURE_MODE_GLOBAL
#define THREAD_LOCAL ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL
#define RELAXED ACL_MODEL_RI_CAPTURE_MODE_RELAXED
#define NONE ACL_MODEL_RI_CAPTURE_STATUS_NONE
#define ACTIVE ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE
#define INVALIDATED ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED

/* The number behind a key in a line of the debug JSON, or -1. */
static inline long number_in(const char *line, const char *key)
{
    char quoted[40];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(line, quoted);
    return at ? strtol(at + strlen(quoted), NULL, 10) : -1;
}

/* Prints the tasks of a graph, stream by stream, streams by the order in which they come. Returns how many
 * there are besides the resets that the runtime adds at the end. */
static inline int show(aclmdlRI model)
{
    char path[] = "/tmp/softacl-graph-XXXXXX", line[1000], type[40];
    long known[64];
    int count = 0, streams = 0, file = mkstemp(path);
    OK(aclmdlRIDebugJsonPrint(model, path, 0));
    FILE *json = fdopen(file, "r");
    while (json && fgets(line, sizeof line, json)) {
        const char *at = strstr(line, "\"Task Type\":\"");
        if (!at || sscanf(at, "\"Task Type\":\"%39[A-Z_]", type) != 1) {
            continue;
        }
        long stream = number_in(line, "Stream Id");
        int index = 0;
        while (index < streams && known[index] != stream) {
            index++;
        }
        if (index == streams && streams < 64) {
            known[streams++] = stream;
        }
        printf("  stream %d task %ld %s", index, number_in(line, "Task Id"), type);
        int pair;
        if (strncmp(type, "EVENT_", 6) == 0 && sscanf(line, "{\"name\":\"EVENT_%*[A-Z]_%d", &pair) == 1) {
            printf(" of %d", pair);
        }
        printf("\n");
        count += strcmp(type, "EVENT_RESET") != 0;
    }
    if (json) {
        fclose(json);
    }
    unlink(path);
    printf("  %d tasks\n", count);
    return count;
}

static inline aclrtStream new_stream(void)
{
    aclrtStream stream = NULL;
    OK(aclrtCreateStream(&stream));
    return stream;
}

/* An event that can be captured by every version. */
static inline aclrtEvent new_event(void)
{
    aclrtEvent event = NULL;
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    return event;
}

static inline aclmdlRICaptureStatus status_of(aclrtStream stream)
{
    aclmdlRICaptureStatus status = (aclmdlRICaptureStatus)99;
    OK(aclmdlRICaptureGetInfo(stream, &status, NULL));
    printf("status %d\n", (int)status);
    return status;
}

/* Device memory of one word, and tasks on it. */
static inline uint64_t *new_word(uint64_t value)
{
    uint64_t *word = NULL;
    OK(aclrtMalloc((void **)&word, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    if (word) {
        *word = value;
    }
    return word;
}

static inline void set_word(uint64_t *word, uint64_t value, aclrtStream stream)
{
    SAY(aclrtValueWrite(word, value, 0, stream), 0);
}

static inline void copy_word(uint64_t *to, const uint64_t *from, aclrtStream stream)
{
    SAY(aclrtMemcpyAsync(to, 8, from, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), 0);
}

/* A host function: adds one. */
static inline void add_one(void *data)
{
    *(uint64_t *)data += 1;
}

static inline void wait_for(aclrtStream from, aclrtEvent event, aclrtStream to)
{
    SAY(aclrtRecordEvent(event, from), 0);
    SAY(aclrtStreamWaitEvent(to, event), 0);
}

/* Ends a capture that is good and shows what it holds. */
static inline aclmdlRI end_well(aclrtStream stream, int nodes)
{
    aclmdlRI model = NULL;
    SAY(aclmdlRICaptureEnd(stream, &model), 0);
    TRUE(model != NULL);
    EXPECT(show(model), nodes);
    return model;
}

/* Ends a capture that is not. */
static inline void end_badly(aclrtStream stream, aclError code)
{
    aclmdlRI model = stream;
    SAY(aclmdlRICaptureEnd(stream, &model), code);
    /* Where nothing was captured the result stays as it was. */
    TRUE(model == (code == ACL_ERROR_RT_STREAM_NOT_CAPTURED ? stream : NULL));
}

static inline void run(aclmdlRI model, aclrtStream stream)
{
    SAY(aclmdlRIExecuteAsync(model, stream), 0);
    OK(aclrtSynchronizeStream(stream));
}

/* Kernels of the host, for task groups: `set` stores a number, `add` adds one. */
struct word_args {
    uint64_t *word;
    uint64_t number;
};

static inline aclrtBinHandle load_kernels(void)
{
    static const char source[] =
        "#include <stdint.h>\n"
        "struct args { uint64_t *word, number; };\n"
        "void set(uint32_t b, uint32_t n, const struct args *a) { if (b + 1 == n) *a->word = a->number; }\n"
        "void add(uint32_t b, uint32_t n, const struct args *a) { if (b + 1 == n) *a->word += a->number; }\n";
    char dir[] = "/tmp/softacl-kernel-XXXXXX", command[200], path[100];
    aclrtBinHandle binary = NULL;
    TRUE(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/k.so", dir);
    snprintf(command, sizeof command, "env -u LD_PRELOAD cc -shared -fPIC -x c -o %s -", path);
    FILE *cc = popen(command, "w");
    TRUE(cc && fputs(source, cc) >= 0);
    EXPECT(cc ? pclose(cc) : -1, 0);
    OK(aclrtBinaryLoadFromFile(path, NULL, &binary));
    remove(path);
    remove(dir);
    return binary;
}

static inline aclrtFuncHandle kernel(aclrtBinHandle binary, const char *name)
{
    aclrtFuncHandle function = NULL;
    OK(aclrtBinaryGetFunction(binary, name, &function));
    return function;
}

static inline aclError launch(aclrtFuncHandle function, uint64_t *word, uint64_t number, aclrtStream stream)
{
    struct word_args args = {word, number};
    return aclrtLaunchKernelWithHostArgs(function, 1, stream, NULL, &args, sizeof args, NULL, 0);
}

/* Runs a function in another thread of the same device and waits for it. */
static inline void in_thread(void *(*body)(void *), void *data)
{
    pthread_t thread;
    /* The counters of checks are the other thread's until it is joined. */
    int created = pthread_create(&thread, NULL, body, data);
    int joined = created ? created : pthread_join(thread, NULL);
    EXPECT(created, 0);
    EXPECT(joined, 0);
}

#endif
