/* Captures that do not touch are independent, whatever the order of their ends. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream s[3];
    aclmdlRI model[3];
    uint64_t *word[3];
    for (int i = 0; i < 3; i++) {
        s[i] = new_stream();
        word[i] = new_word(0);
        SAY(aclmdlRICaptureBegin(s[i], (aclmdlRICaptureMode)i), 0);
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) {
            SAY(aclrtLaunchHostFunc(s[i], add_one, word[i]), 0);
        }
    }
    for (int i = 2; i >= 0; i--) {
        model[i] = end_well(s[i], 2);
    }
    for (int i = 0; i < 3; i++) {
        run(model[i], s[0]);
        EXPECT(*word[i], 2);
    }
    return finish();
}
