/* A RELAXED capture may be filled and ended by any thread of the context. */
#include "../capture.h"

static aclrtStream stream;
static aclmdlRI model;
static uint64_t *word;

static void *fills_and_ends(void *data)
{
    (void)data;
    OK(aclrtSetDevice(0));
    set_word(word, 4, stream);
    model = end_well(stream, 1);
    OK(aclrtResetDevice(0));
    return NULL;
}

int main(void)
{
    start();
    stream = new_stream();
    word = new_word(0);
    SAY(aclmdlRICaptureBegin(stream, RELAXED), 0);
    in_thread(fills_and_ends, NULL);
    run(model, stream);
    EXPECT(*word, 4);
    return finish();
}
