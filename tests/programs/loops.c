/* Training loops of several kinds: one case by its name. Operators differ by name, so that a step is known by them.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_mul.h"
#include "kernels.h"

enum { BYTES = 1 << 16, ELEMENTS = BYTES / 4 };

typedef struct {
    aclrtStream stream;
    void *device, *host;
    aclOpExecutor *relu, *add, *mul;
} Model;

static aclTensor *tensor(void *memory)
{
    int64_t elements = ELEMENTS;
    aclTensor *made = aclCreateTensor(&elements, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &elements, 1, memory);
    require(made != NULL, "a tensor");
    return made;
}

static void make(Model *model)
{
    uint64_t size;
    float one = 1;
    DO(aclrtCreateStream(&model->stream));
    DO(aclrtMalloc(&model->device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMallocHost(&model->host, BYTES));
    model->relu = kernel_of(model->device, ELEMENTS);
    aclTensor *all = tensor(model->device);
    DO(aclnnAddGetWorkspaceSize(all, all, aclCreateScalar(&one, ACL_FLOAT), all, &size, &model->add));
    DO(aclSetAclOpExecutorRepeatable(model->add));
    DO(aclnnMulGetWorkspaceSize(all, all, all, &size, &model->mul));
    DO(aclSetAclOpExecutorRepeatable(model->mul));
}

static void copy_in(Model *model)
{
    DO(aclrtMemcpyAsync(model->device, BYTES, model->host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, model->stream));
}

static void copy_out(Model *model)
{
    DO(aclrtMemcpyAsync(model->host, BYTES, model->device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, model->stream));
}

static void forward(Model *model, int layers)
{
    copy_in(model);
    for (int i = 0; i < layers; i++) {
        launch(model->relu, model->stream);
        DO(aclnnAdd(NULL, 0, model->add, model->stream));
    }
    DO(aclrtMemsetAsync(model->device, BYTES, 0, BYTES, model->stream));
}

static void backward(Model *model, int layers)
{
    for (int i = 0; i < layers; i++) {
        DO(aclnnMul(NULL, 0, model->mul, model->stream));
    }
}

static void wait_for(Model *model)
{
    DO(aclrtSynchronizeStream(model->stream));
}

/* ---- Cases ---- */

static Model first, second;

/* The host is ahead of the device: it waits every eighth step. */
static void ahead(void)
{
    for (int step = 0; step < 40; step++) {
        forward(&first, 4);
        backward(&first, 4);
        if (step % 8 == 7) {
            wait_for(&first);
        }
    }
}

static void block(void *unused)
{
    (void)unused;
    for (;;) {
        pause();
    }
}

/* The process ends before the last six steps, which a host function holds back. The pause lets the harvest read the times of the
 * others. */
static void left(void)
{
    for (int step = 0; step < 40; step++) {
        if (step == 34) {
            DO(aclrtLaunchHostFunc(first.stream, block, NULL));
        }
        forward(&first, 4);
        backward(&first, 4);
        if (step < 34) {
            wait_for(&first);
        }
    }
    sleep(1);
    puts("left");
    fflush(stdout);
    _exit(0);
}

static void evaluation(void)
{
    for (int step = 0; step < 40; step++) {
        forward(&first, 4);
        backward(&first, 4);
        wait_for(&first);
        if (step % 10 == 9) {
            for (int batch = 0; batch < 5; batch++) {
                forward(&first, 4);
                copy_out(&first);
                wait_for(&first);
            }
        }
    }
}

static void layers(void)
{
    unsigned state = 1;
    for (int step = 0; step < 30; step++) {
        state = state * 1103515245 + 12345;
        int count = 2 + (state >> 16) % 9;
        forward(&first, count);
        backward(&first, count);
        wait_for(&first);
    }
}

static void replays(void)
{
    aclmdlRI graph;
    forward(&first, 3);
    wait_for(&first);
    DO(aclmdlRICaptureBegin(first.stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < 3; i++) {
        launch(first.relu, first.stream);
    }
    DO(aclmdlRICaptureEnd(first.stream, &graph));
    for (int step = 0; step < 25; step++) {
        copy_in(&first);
        DO(aclmdlRIExecuteAsync(graph, first.stream));
        copy_out(&first);
        wait_for(&first);
    }
    copy_in(&first);
    copy_out(&first);
    wait_for(&first);
    DO(aclmdlRIDestroy(graph));
}

/* Each replay has different data, from another stream. The program reads the result of each fifth. */
static void replays_read(void)
{
    aclmdlRI graph;
    aclrtEvent copied, used;
    DO(aclrtCreateEventExWithFlag(&copied, ACL_EVENT_SYNC));
    DO(aclrtCreateEventExWithFlag(&used, ACL_EVENT_SYNC));
    DO(aclmdlRICaptureBegin(first.stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < 3; i++) {
        launch(first.relu, first.stream);
    }
    DO(aclmdlRICaptureEnd(first.stream, &graph));
    for (int step = 0; step < 30; step++) {
        copy_in(&second);
        DO(aclrtRecordEvent(copied, second.stream));
        DO(aclrtStreamWaitEvent(first.stream, copied));
        DO(aclmdlRIExecuteAsync(graph, first.stream));
        DO(aclrtRecordEvent(used, first.stream));
        DO(aclrtStreamWaitEvent(second.stream, used));
        if (step % 5 == 4) {
            copy_out(&first);
            wait_for(&first);
        }
    }
    wait_for(&second);
    DO(aclmdlRIDestroy(graph));
}

/* Epochs: each fourth step is read, and an evaluation begins as steps do. */
static void epochs(void)
{
    for (int epoch = 0; epoch < 3; epoch++) {
        for (int step = 0; step < 12; step++) {
            forward(&first, 3);
            backward(&first, 3);
            if (step % 4 == 3) {
                copy_out(&first);
                wait_for(&first);
            }
        }
        wait_for(&first);
        for (int batch = 0; batch < 5; batch++) {
            forward(&first, 3);
            copy_out(&first);
            wait_for(&first);
        }
    }
}

static void replays_ahead(void)
{
    aclmdlRI graph;
    DO(aclmdlRICaptureBegin(first.stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < 3; i++) {
        launch(first.relu, first.stream);
    }
    DO(aclmdlRICaptureEnd(first.stream, &graph));
    for (int step = 0; step < 25; step++) {
        DO(aclmdlRIExecuteAsync(graph, first.stream));
    }
    wait_for(&first);
    DO(aclmdlRIDestroy(graph));
}

static void in_turn(void)
{
    for (int step = 0; step < 10; step++) {
        forward(&first, 3);
        wait_for(&first);
        forward(&second, 5);
        backward(&second, 5);
        wait_for(&second);
    }
}

static void in_turn_alike(void)
{
    for (int step = 0; step < 10; step++) {
        forward(&first, 3);
        wait_for(&first);
        forward(&second, 3);
        wait_for(&second);
    }
}

static void *loop(void *which)
{
    Model *model = which;
    DO(aclrtSetDevice(0));
    for (int step = 0; step < 10; step++) {
        forward(model, 3);
        backward(model, 3);
        wait_for(model);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t thread;
    require(!pthread_create(&thread, NULL, loop, &second), "a thread");
    loop(&first);
    pthread_join(thread, NULL);
}

#define CASE(name) { #name, name }

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    CASE(ahead), CASE(left), CASE(evaluation), CASE(layers), CASE(replays), CASE(replays_ahead), CASE(replays_read), CASE(epochs), CASE(in_turn), CASE(in_turn_alike),
    CASE(threads),
};

int main(int count, char **words)
{
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    make(&first);
    make(&second);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (count > 1 && strcmp(words[1], cases[i].name) == 0) {
            cases[i].run();
            puts(words[1]);
        }
    }
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
