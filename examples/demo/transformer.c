/* A small transformer: operators by their names, batches copied in beside the work, the second half of each layer
 * as a captured graph, steps named by mstx ranges, and one mistake: every fourth step the host reads the result
 * and takes its time while the device has nothing to do. */
#include "transformer.h"

#include <stdio.h>

#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_mul.h"
#include "aclnnop/aclnn_relu.h"
#include "aclnnop/aclnn_softmax.h"

enum { WORKSPACE = 1 << 16, PAUSE_US = 4000 };

/* Of the tools' library, which a program may do without. */
__attribute__((weak)) uint64_t mstxRangeStartA(const char *message, aclrtStream stream);
__attribute__((weak)) void mstxRangeEnd(uint64_t id);

/* What a layer makes of its input, in the order in which it is made. */
struct layer {
    aclTensor *weights[WEIGHTS];
    aclTensor *query, *key, *key_turned, *value, *scores, *scaled, *shares, *seen, *attended;
    aclTensor *wide, *positive, *narrow, *output;
    aclmdlRI feed_forward;
};

struct model {
    aclrtStream compute, copy;
    aclrtEvent loaded[2], used[2], done;
    float *batch, *result;
    void *input_memory[2], *output_memory, *workspace;
    aclTensor *input[2];
    struct layer layers[LAYERS];
    aclScalar *one, *scale;
};

static uint64_t begin(const char *what, int number) {
    char name[40];
    snprintf(name, sizeof name, "%s %d", what, number);
    return mstxRangeStartA != NULL ? mstxRangeStartA(name, NULL) : 0;
}

static void end(uint64_t range) {
    if (mstxRangeEnd != NULL) {
        mstxRangeEnd(range);
    }
}

/* Both phases of an operator. */
#define OPERATOR(name, ...)                                                                        \
    do {                                                                                           \
        uint64_t size = 0;                                                                         \
        aclOpExecutor *executor = NULL;                                                            \
        CHECK(name##GetWorkspaceSize(__VA_ARGS__, &size, &executor));                              \
        CHECK(name(m->workspace, size, executor, m->compute));                                     \
    } while (0)

static aclTensor *square(void *memory, int turned) {
    const int64_t dims[] = {SIDE, SIDE};
    const int64_t rows[] = {SIDE, 1}, columns[] = {1, SIDE};
    return aclCreateTensor(dims, 2, ACL_FLOAT, turned ? columns : rows, 0, ACL_FORMAT_ND, dims, 2,
                           memory);
}

static aclTensor *new_square(void) { return square(demo_device_memory(BYTES), 0); }

static void attention(struct model *m, struct layer *l, aclTensor *input) {
    OPERATOR(aclnnMatmul, input, l->weights[0], l->query, 0);
    OPERATOR(aclnnMatmul, input, l->weights[1], l->key, 0);
    OPERATOR(aclnnMatmul, input, l->weights[2], l->value, 0);
    OPERATOR(aclnnMatmul, l->query, l->key_turned, l->scores, 0);
    OPERATOR(aclnnMuls, l->scores, m->scale, l->scaled);
    OPERATOR(aclnnSoftmax, l->scaled, 1, l->shares);
    OPERATOR(aclnnMatmul, l->shares, l->value, l->seen, 0);
    OPERATOR(aclnnAdd, input, l->seen, m->one, l->attended);
}

static void feed_forward(struct model *m, struct layer *l) {
    OPERATOR(aclnnMatmul, l->attended, l->weights[3], l->wide, 0);
    OPERATOR(aclnnRelu, l->wide, l->positive);
    OPERATOR(aclnnMatmul, l->positive, l->weights[4], l->narrow, 0);
    OPERATOR(aclnnAdd, l->attended, l->narrow, m->one, l->output);
}

static void make_layer(struct model *m, struct layer *l, int number, void *output) {
    for (int i = 0; i < WEIGHTS; i++) {
        float *host = demo_pinned_memory(BYTES);
        void *memory = demo_device_memory(BYTES);
        transformer_weights(host, number, i);
        CHECK(aclrtMemcpy(memory, BYTES, host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE));
        CHECK(aclrtFreeHost(host));
        l->weights[i] = square(memory, 0);
    }
    void *key = demo_device_memory(BYTES);
    l->key = square(key, 0);
    l->key_turned = square(key, 1);
    aclTensor **made[] = {&l->query, &l->value,    &l->scores, &l->scaled,   &l->shares,
                          &l->seen,  &l->attended, &l->wide,   &l->positive, &l->narrow};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        *made[i] = new_square();
    }
    l->output = square(output, 0);
    CHECK(aclmdlRICaptureBegin(m->compute, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    feed_forward(m, l);
    CHECK(aclmdlRICaptureEnd(m->compute, &l->feed_forward));
}

static void make(struct model *m) {
    float one = 1, scale = SCALE;
    m->one = aclCreateScalar(&one, ACL_FLOAT);
    m->scale = aclCreateScalar(&scale, ACL_FLOAT);
    CHECK(aclrtCreateStream(&m->compute));
    CHECK(aclrtCreateStream(&m->copy));
    CHECK(aclrtCreateEvent(&m->done));
    m->batch = demo_pinned_memory(2 * BATCH);
    m->result = demo_pinned_memory(BYTES);
    m->workspace = demo_device_memory(WORKSPACE);
    for (int slot = 0; slot < 2; slot++) {
        CHECK(aclrtCreateEvent(&m->loaded[slot]));
        CHECK(aclrtCreateEvent(&m->used[slot]));
        m->input_memory[slot] = demo_device_memory(BATCH);
        m->input[slot] = square(m->input_memory[slot], 0);
    }
    for (int i = 0; i < LAYERS; i++) {
        m->output_memory = demo_device_memory(BYTES);
        make_layer(m, &m->layers[i], i, m->output_memory);
    }
}

/* Only the graphs and what was made before them: memory goes with the device. */
static void drop(struct model *m) {
    for (int i = 0; i < LAYERS; i++) {
        CHECK(aclmdlRIDestroy(m->layers[i].feed_forward));
    }
    for (int slot = 0; slot < 2; slot++) {
        CHECK(aclrtDestroyEvent(m->loaded[slot]));
        CHECK(aclrtDestroyEvent(m->used[slot]));
    }
    CHECK(aclrtDestroyEvent(m->done));
    CHECK(aclrtDestroyStream(m->compute));
    CHECK(aclrtDestroyStream(m->copy));
}

/* The batch of a step, while the device still works on the one before. */
static void load(struct model *m, int step) {
    int slot = step % 2;
    float *batch = m->batch + slot * (BATCH / sizeof(float));
    if (step >= 2) {
        /* The host's half is free again when its copy is done. */
        CHECK(aclrtSynchronizeEvent(m->loaded[slot]));
        CHECK(aclrtStreamWaitEvent(m->copy, m->used[slot]));
    }
    transformer_batch(batch, step);
    CHECK(aclrtMemcpyAsync(m->input_memory[slot], BATCH, batch, BATCH, ACL_MEMCPY_HOST_TO_DEVICE,
                           m->copy));
    CHECK(aclrtRecordEvent(m->loaded[slot], m->copy));
}

static void forward(struct model *m, int step) {
    int slot = step % 2;
    aclTensor *input = m->input[slot];
    CHECK(aclrtStreamWaitEvent(m->compute, m->loaded[slot]));
    for (int i = 0; i < LAYERS; i++) {
        uint64_t range = begin("layer", i);
        attention(m, &m->layers[i], input);
        CHECK(aclmdlRIExecuteAsync(m->layers[i].feed_forward, m->compute));
        input = m->layers[i].output;
        end(range);
    }
    CHECK(aclrtRecordEvent(m->used[slot], m->compute));
    CHECK(aclrtMemcpyAsync(m->result, BYTES, m->output_memory, BYTES, ACL_MEMCPY_DEVICE_TO_HOST,
                           m->compute));
    CHECK(aclrtRecordEvent(m->done, m->compute));
}

int demo_transformer(int steps) {
    struct model model = {0};
    int wrong = 0;
    make(&model);
    for (int step = 0; step < steps; step++) {
        uint64_t range = begin("step", step);
        load(&model, step);
        forward(&model, step);
        if (step % 4 == 3 || step == steps - 1) {
            CHECK(aclrtSynchronizeEvent(model.done));
            wrong |= transformer_differs(model.result, step);
            demo_host_work(PAUSE_US);
        }
        end(range);
    }
    CHECK(aclrtSynchronizeDevice());
    drop(&model);
    return wrong;
}
