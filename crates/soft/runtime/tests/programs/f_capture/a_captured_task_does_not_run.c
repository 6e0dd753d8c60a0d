/* Tasks of a capturing stream are kept, not executed; every replay executes them. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream stream = new_stream();
    uint64_t *word = new_word(5);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtLaunchHostFunc(stream, add_one, word), 0);
    sleep_ms(5);
    EXPECT(*word, 5);
    aclmdlRI model = end_well(stream, 1);
    EXPECT(*word, 5);
    for (int i = 1; i <= 3; i++) {
        run(model, stream);
        EXPECT(*word, 5 + i);
    }
    SAY(aclmdlRIDestroy(model), 0);
    return finish();
}
