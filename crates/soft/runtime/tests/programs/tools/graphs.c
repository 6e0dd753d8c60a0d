/* Random captures, joins and replays, and what one task after the other would compute.
 *
 * Every word belongs to one stream of the capture at a time; a record that another stream waits for
 * hands some over. So the order of submission is one that the graph allows, and the only result. */
#include "../capture.h"

enum { STREAMS = 5, WORDS = 12, MOST = 120, EVENTS = 160 };

static uint64_t seed;

static uint32_t below(uint32_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % limit;
}

enum kind { SET, COPY, FILL, MIX };

struct step {
    enum kind kind;
    uint64_t *to;
    const uint64_t *from;
    uint64_t number;
    int word, source;
};

static struct step steps[2 * MOST];
static int step_count;
static uint64_t *words[WORDS];
static uint64_t shadow[WORDS];
static aclrtStream streams[STREAMS];
static aclrtEvent events[EVENTS];
static int event_count;

static void mix(void *data)
{
    struct step *step = data;
    *step->to = *step->to * 31 + step->number;
}

/* The same on the reference. */
static void apply(const struct step *step)
{
    uint64_t *word = &shadow[step->word];
    switch (step->kind) {
    case SET: *word = step->number; break;
    case COPY: *word = shadow[step->source]; break;
    case FILL: memset(word, (int)(step->number & 255), 8); break;
    case MIX: *word = *word * 31 + step->number; break;
    }
}

static void submit(struct step *step, aclrtStream stream)
{
    switch (step->kind) {
    case SET: OK(aclrtValueWrite(step->to, step->number, 0, stream)); break;
    case COPY: OK(aclrtMemcpyAsync(step->to, 8, step->from, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, stream)); break;
    case FILL: OK(aclrtMemsetAsync(step->to, 8, (int)(step->number & 255), 8, stream)); break;
    case MIX: OK(aclrtLaunchHostFunc(stream, mix, step)); break;
    }
}

static struct step *random_step(int word, int source)
{
    struct step *step = &steps[step_count++];
    step->kind = (enum kind)below(4);
    step->word = word;
    step->source = source;
    step->to = words[word];
    step->from = words[source];
    step->number = below(1000);
    return step;
}

/* A word that the stream owns, or -1. */
static int owned(const int *owner, int stream)
{
    int first = (int)below(WORDS);
    for (int i = 0; i < WORDS; i++) {
        int word = (first + i) % WORDS;
        if (owner[word] == stream) {
            return word;
        }
    }
    return -1;
}

static void hand_over(int *owner, int from, int to, int all)
{
    aclrtEvent event = events[event_count++ % EVENTS];
    OK(aclrtRecordEvent(event, streams[from]));
    OK(aclrtStreamWaitEvent(streams[to], event));
    for (int i = 0; i < WORDS; i++) {
        if (owner[i] == from && (all || below(2))) {
            owner[i] = to;
        }
    }
}

/* Every stream that joined comes back, directly or by another one that has not come back yet. */
static void join_all(int *owner, const int *joined)
{
    int left[STREAMS], count = 0;
    for (int i = 1; i < STREAMS; i++) {
        if (joined[i]) {
            left[count++] = i;
        }
    }
    while (count) {
        int last = (int)below((uint32_t)count), from = left[last];
        left[last] = left[--count];
        int to = count && below(2) ? left[below((uint32_t)count)] : 0;
        hand_over(owner, from, to, 1);
    }
}

/* Captures a random graph on the first stream; NULL when it was made wrong on purpose. */
static aclmdlRI capture(void)
{
    int owner[WORDS] = {0}, joined[STREAMS] = {1};
    aclmdlRI model = NULL;
    int spoil = below(5) == 0, length = (int)below(40);
    step_count = 0;
    OK(aclmdlRICaptureBegin(streams[0], (aclmdlRICaptureMode)below(3)));
    for (int i = 0; i < length; i++) {
        int stream = (int)below(STREAMS);
        int word = joined[stream] ? owned(owner, stream) : -1;
        if (!joined[stream]) {
            continue;
        }
        if (below(3) == 0) {
            int to = (int)((stream + 1 + below(STREAMS - 1)) % STREAMS);
            hand_over(owner, stream, to, 0);
            joined[to] = 1;
        } else if (word >= 0) {
            submit(random_step(word, owned(owner, stream)), streams[stream]);
        }
    }
    join_all(owner, joined);
    if (spoil) {
        int side = 1 + (int)below(STREAMS - 1);
        if (joined[side]) {
            OK(aclrtMemsetAsync(words[0], 8, 0, 8, streams[side]));
            EXPECT(aclmdlRICaptureEnd(streams[0], &model), ACL_ERROR_RT_STREAM_UNJOINED);
            TRUE(model == NULL);
            return NULL;
        }
    }
    OK(aclmdlRICaptureEnd(streams[0], &model));
    return model;
}

static void one_seed(uint64_t number)
{
    seed = number * 2654435761u + 12345;
    aclmdlRI model = capture();
    int captured = step_count, failed = failures;
    for (int i = 0; i < WORDS; i++) {
        *words[i] = shadow[i] = below(1000);
    }
    for (int replay = (int)below(4); model && replay >= 0; replay--) {
        aclrtStream stream = streams[below(STREAMS)];
        for (int extra = (int)below(3); extra > 0; extra--) {
            struct step *step = random_step((int)below(WORDS), (int)below(WORDS));
            submit(step, stream);
            apply(step);
        }
        OK(aclmdlRIExecuteAsync(model, stream));
        for (int i = 0; i < captured; i++) {
            apply(&steps[i]);
        }
        if (below(2)) {
            OK(aclrtSynchronizeStream(stream));
        } else {
            aclrtEvent event = events[0];
            OK(aclrtRecordEvent(event, stream));
            for (int i = 0; i < STREAMS; i++) {
                OK(aclrtStreamWaitEvent(streams[i], event));
            }
        }
    }
    OK(aclrtSynchronizeDevice());
    for (int i = 0; i < WORDS; i++) {
        EXPECT(*words[i], shadow[i]);
    }
    if (model) {
        OK(aclmdlRIDestroy(model));
    }
    if (failures != failed) {
        fprintf(stderr, "seed %llu fails\n", (unsigned long long)number);
    }
}

int main(int argc, char **argv)
{
    uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    start();
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = new_stream();
    }
    for (int i = 0; i < WORDS; i++) {
        words[i] = new_word(0);
    }
    for (int i = 0; i < EVENTS; i++) {
        events[i] = new_event();
    }
    for (uint64_t number = 1; number <= seeds && failures == 0; number++) {
        one_seed(number);
    }
    return finish();
}
