/* Aborting the executing stream drops the replay; the graph can be executed again and destroyed. */
#include "../capture.h"

int main(void)
{
    static uint64_t never;
    start();
    aclrtStream stream = new_stream();
    uint64_t *word = new_word(0), *after = new_word(0);
    (void)never;
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtValueWait(word, 1, 1, stream), 0);
    set_word(after, 1, stream);
    aclmdlRI model = end_well(stream, 2);
    SAY(aclmdlRIExecuteAsync(model, stream), 0);
    SAY(aclrtStreamAbort(stream), 0);
    EXPECT(*after, 0);
    *word = 1;
    run(model, stream);
    EXPECT(*after, 1);
    SAY(aclmdlRIDestroy(model), 0);
    return finish();
}
