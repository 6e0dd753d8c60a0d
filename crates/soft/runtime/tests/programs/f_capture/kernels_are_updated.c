/* A task group's kernels get other arguments; the next replay uses them. */
#include "../capture.h"

int main(void)
{
    aclrtTaskGrp group = NULL;
    start();
    aclrtStream stream = new_stream(), updates = new_stream();
    aclrtBinHandle binary = load_kernels();
    aclrtFuncHandle set = kernel(binary, "set"), add = kernel(binary, "add");
    uint64_t *a = new_word(0), *b = new_word(0);
    SAY(aclmdlRICaptureBegin(stream, GLOBAL), 0);
    SAY(launch(set, a, 1, stream), 0);
    SAY(aclmdlRICaptureTaskGrpBegin(stream), 0);
    SAY(launch(add, a, 10, stream), 0);
    SAY(launch(set, b, 20, stream), 0);
    SAY(aclmdlRICaptureTaskGrpEnd(stream, &group), 0);
    SAY(launch(add, b, 1, stream), 0);
    aclmdlRI model = end_well(stream, 4);
    run(model, stream);
    EXPECT(*a, 11);
    EXPECT(*b, 21);
    SAY(aclmdlRICaptureTaskUpdateBegin(updates, group), 0);
    SAY(launch(add, a, 100, updates), 0);
    SAY(launch(set, b, 200, updates), 0);
    SAY(aclmdlRICaptureTaskUpdateEnd(updates), 0);
    OK(aclrtSynchronizeStream(updates));
    EXPECT(*a, 11);
    EXPECT(show(model), 4);
    run(model, stream);
    EXPECT(*a, 101);
    EXPECT(*b, 201);
    return finish();
}
