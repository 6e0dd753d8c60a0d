/* The same graph can be submitted often, and on several streams at once. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream first = new_stream(), second = new_stream();
    uint64_t *word = new_word(0);
    SAY(aclmdlRICaptureBegin(first, GLOBAL), 0);
    SAY(aclrtLaunchHostFunc(first, add_one, word), 0);
    aclmdlRI model = end_well(first, 1);
    for (int i = 0; i < 200; i++) {
        OK(aclmdlRIExecuteAsync(model, i % 2 ? first : second));
    }
    OK(aclrtSynchronizeDevice());
    EXPECT(*word, 200);
    return finish();
}
