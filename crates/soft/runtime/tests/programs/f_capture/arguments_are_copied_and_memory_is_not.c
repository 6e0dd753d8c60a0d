/* A captured launch keeps its arguments; what they point to is read at every replay. */
#include "../capture.h"

int main(void)
{
    start();
    aclrtStream stream = new_stream();
    aclrtFuncHandle add = kernel(load_kernels(), "add");
    uint64_t *word = new_word(0);
    struct word_args args = {word, 5};
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(aclrtLaunchKernelWithHostArgs(add, 1, stream, NULL, &args, sizeof args, NULL, 0), 0);
    args.word = NULL;
    args.number = 1000;
    aclmdlRI model = end_well(stream, 1);
    run(model, stream);
    EXPECT(*word, 5);
    *word = 100;
    run(model, stream);
    EXPECT(*word, 105);
    return finish();
}
