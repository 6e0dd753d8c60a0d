/* Stages on streams of their own: one stage feeds two at once, and the last waits for both. */
#include "demo.h"

#include <string.h>

enum { BYTES = 512 * 1024 };

struct stages {
    aclrtStream load, left, right, join;
    aclrtEvent loaded, left_done, right_done, joined;
    unsigned char *host, *source, *left_part, *right_part;
};

static void make(struct stages *s) {
    CHECK(aclrtCreateStream(&s->load));
    CHECK(aclrtCreateStream(&s->left));
    CHECK(aclrtCreateStream(&s->right));
    CHECK(aclrtCreateStream(&s->join));
    CHECK(aclrtCreateEvent(&s->loaded));
    CHECK(aclrtCreateEvent(&s->left_done));
    CHECK(aclrtCreateEvent(&s->right_done));
    CHECK(aclrtCreateEvent(&s->joined));
    s->host = demo_pinned_memory(2 * BYTES);
    s->source = demo_device_memory(BYTES);
    s->left_part = demo_device_memory(BYTES);
    s->right_part = demo_device_memory(BYTES);
}

static void drop(struct stages *s) {
    CHECK(aclrtFree(s->source));
    CHECK(aclrtFree(s->left_part));
    CHECK(aclrtFree(s->right_part));
    CHECK(aclrtFreeHost(s->host));
    CHECK(aclrtDestroyEvent(s->loaded));
    CHECK(aclrtDestroyEvent(s->left_done));
    CHECK(aclrtDestroyEvent(s->right_done));
    CHECK(aclrtDestroyEvent(s->joined));
    CHECK(aclrtDestroyStream(s->load));
    CHECK(aclrtDestroyStream(s->left));
    CHECK(aclrtDestroyStream(s->right));
    CHECK(aclrtDestroyStream(s->join));
}

/* One stream's share of the work: `weight` passes over its part. */
static void part(struct stages *s, aclrtStream stream, void *memory, int weight, aclrtEvent done) {
    CHECK(aclrtStreamWaitEvent(stream, s->loaded));
    for (int pass = 0; pass < weight; pass++) {
        CHECK(aclrtMemcpyAsync(memory, BYTES, s->source, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE,
                               stream));
    }
    CHECK(aclrtRecordEvent(done, stream));
}

static void submit(struct stages *s, int round) {
    if (round > 0) {
        /* The source may be overwritten only when both parts of the last round are out. */
        CHECK(aclrtStreamWaitEvent(s->load, s->joined));
    }
    CHECK(aclrtMemsetAsync(s->source, BYTES, round & 0xff, BYTES, s->load));
    CHECK(aclrtRecordEvent(s->loaded, s->load));
    part(s, s->left, s->left_part, 1, s->left_done);
    part(s, s->right, s->right_part, 3, s->right_done);
    CHECK(aclrtStreamWaitEvent(s->join, s->left_done));
    CHECK(aclrtStreamWaitEvent(s->join, s->right_done));
    CHECK(aclrtMemcpyAsync(s->host, BYTES, s->left_part, BYTES, ACL_MEMCPY_DEVICE_TO_HOST,
                           s->join));
    CHECK(aclrtMemcpyAsync(s->host + BYTES, BYTES, s->right_part, BYTES,
                           ACL_MEMCPY_DEVICE_TO_HOST, s->join));
    CHECK(aclrtRecordEvent(s->joined, s->join));
}

int demo_pipeline(int rounds) {
    struct stages stages;
    int wrong = 0;
    make(&stages);
    for (int round = 0; round < rounds; round++) {
        submit(&stages, round);
        /* Every fourth round the host looks at the result. */
        if (round % 4 == 3) {
            CHECK(aclrtSynchronizeStream(stages.join));
            unsigned char expected = (unsigned char)round;
            wrong |= stages.host[0] != expected || stages.host[2 * BYTES - 1] != expected;
        }
    }
    CHECK(aclrtSynchronizeDevice());
    drop(&stages);
    return wrong;
}
