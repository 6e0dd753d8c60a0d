/* Copies and work overlap: while one buffer is worked on, the next one comes in on a stream of its
 * own and the last result leaves on a third. Events keep each buffer from being touched too early. */
#include "demo.h"

#include <string.h>

enum { BUFFERS = 2, BYTES = 1 << 20 };

struct buffer {
    unsigned char *input, *output;
    unsigned char *device_in, *device_out;
    aclrtEvent arrived, worked, left;
};

static void make(struct buffer *buffer) {
    buffer->input = demo_pinned_memory(BYTES);
    buffer->output = demo_pinned_memory(BYTES);
    buffer->device_in = demo_device_memory(BYTES);
    buffer->device_out = demo_device_memory(BYTES);
    CHECK(aclrtCreateEvent(&buffer->arrived));
    CHECK(aclrtCreateEvent(&buffer->worked));
    CHECK(aclrtCreateEvent(&buffer->left));
}

static void drop(struct buffer *buffer) {
    CHECK(aclrtDestroyEvent(buffer->arrived));
    CHECK(aclrtDestroyEvent(buffer->worked));
    CHECK(aclrtDestroyEvent(buffer->left));
    CHECK(aclrtFree(buffer->device_in));
    CHECK(aclrtFree(buffer->device_out));
    CHECK(aclrtFreeHost(buffer->input));
    CHECK(aclrtFreeHost(buffer->output));
}

static void submit(struct buffer *b, aclrtStream in, aclrtStream work, aclrtStream out) {
    CHECK(aclrtMemcpyAsync(b->device_in, BYTES, b->input, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, in));
    CHECK(aclrtRecordEvent(b->arrived, in));
    CHECK(aclrtStreamWaitEvent(work, b->arrived));
    CHECK(aclrtMemsetAsync(b->device_out, BYTES, 0, BYTES, work));
    CHECK(aclrtMemcpyAsync(b->device_out, BYTES, b->device_in, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE,
                           work));
    CHECK(aclrtRecordEvent(b->worked, work));
    CHECK(aclrtStreamWaitEvent(out, b->worked));
    CHECK(aclrtMemcpyAsync(b->output, BYTES, b->device_out, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, out));
    CHECK(aclrtRecordEvent(b->left, out));
}

int demo_overlap(int rounds) {
    aclrtStream in, work, out;
    struct buffer buffers[BUFFERS];
    int wrong = 0;
    CHECK(aclrtCreateStream(&in));
    CHECK(aclrtCreateStream(&work));
    CHECK(aclrtCreateStream(&out));
    for (int i = 0; i < BUFFERS; i++) {
        make(&buffers[i]);
    }
    for (int round = 0; round < rounds + BUFFERS; round++) {
        struct buffer *buffer = &buffers[round % BUFFERS];
        if (round >= BUFFERS) {
            CHECK(aclrtSynchronizeEvent(buffer->left));
            wrong |= buffer->output[BYTES - 1] != (unsigned char)(round - BUFFERS + 1);
        }
        if (round < rounds) {
            memset(buffer->input, round + 1, BYTES);
            submit(buffer, in, work, out);
        }
    }
    CHECK(aclrtSynchronizeDevice());
    for (int i = 0; i < BUFFERS; i++) {
        drop(&buffers[i]);
    }
    CHECK(aclrtDestroyStream(in));
    CHECK(aclrtDestroyStream(work));
    CHECK(aclrtDestroyStream(out));
    return wrong;
}
