/* A server with continuous batching: requests wait for a place, are prefilled one by one, and are decoded together. It
 * names its work, and prints the times of each request as it sees them: before and after the call that shows each.
 * Words: how it names its work (plain, service, own, none), and whether it waits inside of the ranges (sync, async).
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdbool.h>
#include <time.h>

#include "kernels.h"

__attribute__((weak)) uint64_t mstxRangeStartA(const char *message, aclrtStream stream);
__attribute__((weak)) void mstxRangeEnd(uint64_t id);
__attribute__((weak)) void mstxMarkA(const char *message, aclrtStream stream);

enum { REQUESTS = 6, PLACES = 3, ELEMENTS = 1 << 18, TEXT = 1024, PART = 128 };

/* Before and after a call. */
struct span {
    long long from, to;
};

struct request {
    struct span arrival, begin, first, last, done;
    int tokens, wanted;
};

static struct request requests[REQUESTS];
static enum { PLAIN, SERVICE, OWN, NONE } names;
static bool is_async;
static aclOpExecutor *kernel;
static aclrtStream stream;

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static struct span mark(const char *text)
{
    struct span span = {now(), 0};
    if (names != NONE) {
        mstxMarkA(text, NULL);
    }
    span.to = now();
    return span;
}

/* As the MS Service Profiler does it: a long text is in several marks. */
static void mark_parts(const char *text, uint64_t range)
{
    char part[PART];
    int head = snprintf(part, sizeof part, "span=%llu*", (unsigned long long)range);
    for (size_t most = PART - (size_t)head - 1; *text != '\0';) {
        size_t length = strlen(text) < most ? strlen(text) : most;
        memcpy(part + head, text, length);
        part[(size_t)head + length] = '\0';
        mstxMarkA(part, NULL);
        text += length;
    }
}

static void arrive(int number)
{
    char text[TEXT];
    static const char *const formats[] = {
        [PLAIN] = "request %d",
        [SERVICE] = "^domain^:^Request^,^rid^:^req-%d^,^name^:^httpReq^,^type^:0,",
        [OWN] = "come <%d>",
        [NONE] = "%d",
    };
    snprintf(text, sizeof text, formats[names], number);
    requests[number].arrival = mark(text);
    requests[number].wanted = 2 + number % 3;
}

static void finish(int number)
{
    char text[TEXT];
    struct request *request = &requests[number];
    if (names == SERVICE) {
        snprintf(text, sizeof text,
                 "^domain^:^Request^,^rid^:^req-%d^,^recvTokenSize=^:%d,^replyTokenSize=^:%d,^stream^:^a text that makes "
                 "this message long^,^name^:^httpRes^,^type^:0,",
                 number, 10 + number, request->tokens);
        request->done.from = now();
        mark_parts(text, mstxRangeStartA("", NULL));
        request->done.to = now();
        return;
    }
    /* Only some names have the number of tokens. */
    snprintf(text, sizeof text, number % 2 == 0 ? "done %d tokens=%d" : "done %d", number, request->tokens);
    if (names == OWN) {
        snprintf(text, sizeof text, "end <%d>", number);
    }
    request->done = mark(text);
}

/* The name of a batch, or its message. */
static void describe(char *text, const int *batch, int size, bool is_prefill)
{
    char *end = text;
    char *const limit = text + TEXT;
    if (names == SERVICE) {
        end += snprintf(end, (size_t)(limit - end), "^domain^:^ModelExecute^,^rid^:[");
    } else if (names == OWN) {
        end += snprintf(end, (size_t)(limit - end), "%s <", is_prefill ? "prefill" : "decode");
    } else {
        end += snprintf(end, (size_t)(limit - end), "%s [", is_prefill ? "prefill" : "decode");
    }
    for (int i = 0; i < size; i++) {
        const char *between = i > 0 ? "," : "";
        int tokens = requests[batch[i]].tokens;
        end += names == SERVICE ? snprintf(end, (size_t)(limit - end), "%s{^rid^:^req-%d^,^iter_size^:%d}", between, batch[i], tokens)
                                : snprintf(end, (size_t)(limit - end), "%s%d", between, batch[i]);
    }
    snprintf(end, (size_t)(limit - end), names == SERVICE ? "],^batch_type^:^%s^,^name^:^modelExec^,^type^:2," : names == OWN ? ">" : "]",
             is_prefill ? "Prefill" : "Decode");
}

static void run_batch(const int *batch, int size, bool is_prefill)
{
    char text[TEXT];
    int kernels = is_prefill ? 2 + batch[0] : 1;
    struct span begin, end;
    uint64_t range = 0;

    describe(text, batch, size, is_prefill);
    begin.from = now();
    if (names != NONE) {
        range = mstxRangeStartA(names == SERVICE ? "modelExec" : text, NULL);
    }
    begin.to = now();
    usleep(300);
    for (int i = 0; i < kernels; i++) {
        launch(kernel, stream);
    }
    if (!is_async) {
        DO(aclrtSynchronizeStream(stream));
    }
    if (names == SERVICE) {
        mark_parts(text, range);
    }
    end.from = now();
    if (names != NONE) {
        mstxRangeEnd(range);
    }
    end.to = now();
    DO(aclrtSynchronizeStream(stream));
    printf("batch %d", kernels);
    for (int i = 0; i < size; i++) {
        struct request *request = &requests[batch[i]];
        request->tokens++;
        request->last = end;
        if (is_prefill) {
            request->begin = begin;
            request->first = end;
        }
        printf(" %d", batch[i]);
    }
    printf("\n");
}

static void serve(void)
{
    int running[PLACES], count = 0, arrived = 0, next = 0;
    for (int round = 0; next < REQUESTS || count > 0; round++) {
        for (; arrived < REQUESTS && (arrived < 4 || round > 5); arrived++) {
            arrive(arrived);
            usleep(2000);
        }
        if (next < arrived && count < PLACES) {
            running[count++] = next;
            run_batch(&next, 1, true);
            next++;
        } else {
            run_batch(running, count, false);
        }
        int kept = 0;
        for (int i = 0; i < count; i++) {
            if (requests[running[i]].tokens < requests[running[i]].wanted) {
                running[kept++] = running[i];
            } else {
                finish(running[i]);
            }
        }
        count = kept;
    }
}

int main(int count, char **words)
{
    const char *how = count > 1 ? words[1] : "plain";
    void *memory;

    names = strcmp(how, "service") == 0 ? SERVICE : strcmp(how, "own") == 0 ? OWN : strcmp(how, "none") == 0 ? NONE : PLAIN;
    is_async = count > 2 && strcmp(words[2], "async") == 0;
    require(mstxMarkA != NULL && mstxRangeStartA != NULL && mstxRangeEnd != NULL, "the functions of mstx");
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&memory, (size_t)ELEMENTS * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    kernel = kernel_of(memory, ELEMENTS);
    serve();
    for (int i = 0; i < REQUESTS; i++) {
        struct request *it = &requests[i];
        struct span spans[] = {it->arrival, it->begin, it->first, it->last, it->done};
        printf("request %d %d", i, it->tokens);
        for (size_t span = 0; span < sizeof spans / sizeof *spans; span++) {
            printf(" %lld %lld", spans[span].from, spans[span].to);
        }
        printf("\n");
    }
    DO(aclDestroyAclOpExecutor(kernel));
    DO(aclrtFree(memory));
    DO(aclrtDestroyStream(stream));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
