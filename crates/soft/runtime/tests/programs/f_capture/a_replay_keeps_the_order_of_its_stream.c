/* A replay is one entry in the order of its stream: nothing in it overtakes or is overtaken. */
#include "../capture.h"

static uint64_t *word;

static void doubles(void *data)
{
    (void)data;
    *word *= 2;
}

int main(void)
{
    start();
    aclrtStream stream = new_stream(), side = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    word = new_word(1);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    wait_for(stream, fork, side);
    SAY(aclrtLaunchHostFunc(side, add_one, word), 0);
    wait_for(side, join, stream);
    aclmdlRI model = end_well(stream, 5);
    for (int i = 0; i < 4; i++) {
        SAY(aclrtLaunchHostFunc(stream, doubles, NULL), 0);
        SAY(aclmdlRIExecuteAsync(model, stream), 0);
    }
    SAY(aclrtSynchronizeStream(stream), 0);
    EXPECT(*word, 31);
    return finish();
}
