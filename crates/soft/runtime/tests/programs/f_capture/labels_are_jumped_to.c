/* A switch goes on at the label whose number is in device memory when its turn comes: forwards, beyond the last
   one, and on another stream of the graph, which starts only then. */
#include "../capture.h"

int main(void)
{
    enum { LABELS = 3 };
    aclrtLabel labels[LABELS], free_label;
    aclrtLabelList list = NULL;
    aclmdlRI model = NULL;
    aclrtStream main_stream, side;
    uint32_t *index;
    start();
    aclrtStream stream = new_stream();
    uint64_t *a = new_word(0), *b = new_word(0), *c = new_word(0);
    OK(aclrtMalloc((void **)&index, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < LABELS; i++) {
        SAY(aclrtCreateLabel(&labels[i]), 0);
    }
    SAY(aclrtCreateLabel(&free_label), 0);
    SAY(aclrtCreateLabelList(labels, LABELS, &list), 0);
    OK(aclrtCreateStreamWithConfig(&main_stream, 0, ACL_STREAM_PERSISTENT));
    OK(aclrtCreateStreamWithConfig(&side, 0, ACL_STREAM_PERSISTENT));
    SAY(aclrtSetLabel(labels[0], stream), ACL_ERROR_RT_STREAM_MODEL);
    SAY(aclmdlRIBuildBegin(&model, 0), 0);
    SAY(aclmdlRIBindStream(model, main_stream, ACL_MODEL_STREAM_FLAG_HEAD), 0);
    SAY(aclmdlRIBindStream(model, side, ACL_MODEL_STREAM_FLAG_DEFAULT), 0);
    SAY(aclrtSwitchLabelByIndex(index, LABELS - 1, list, main_stream), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclrtSwitchLabelByIndex(NULL, LABELS, list, main_stream), ACL_ERROR_INVALID_PARAM);
    SAY(aclrtSwitchLabelByIndex(index, LABELS, list, main_stream), 0);
    SAY(aclrtSetLabel(labels[0], main_stream), 0);
    SAY(aclrtSetLabel(labels[0], main_stream), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclrtLaunchHostFunc(main_stream, add_one, a), 0);
    SAY(aclrtSetLabel(labels[1], main_stream), 0);
    SAY(aclrtLaunchHostFunc(main_stream, add_one, b), 0);
    SAY(aclrtSetLabel(labels[2], side), 0);
    SAY(aclrtLaunchHostFunc(side, add_one, c), 0);
    SAY(aclmdlRIEndTask(model, main_stream), 0);
    SAY(aclmdlRIBuildEnd(model, NULL), 0);
    static const uint32_t indexes[] = {0, 1, 2, 77};
    static const uint64_t wanted[][3] = {{1, 1, 0}, {1, 2, 0}, {1, 2, 1}, {1, 2, 2}};
    for (int i = 0; i < 4; i++) {
        *index = indexes[i];
        run(model, stream);
        EXPECT(*a, wanted[i][0]);
        EXPECT(*b, wanted[i][1]);
        EXPECT(*c, wanted[i][2]);
    }
    SAY(aclmdlRIUnbindStream(model, main_stream), 0);
    SAY(aclmdlRIUnbindStream(model, side), 0);
    SAY(aclmdlRIDestroy(model), 0);
    SAY(aclrtDestroyLabelList(list), 0);
    SAY(aclrtDestroyLabelList(list), ACL_ERROR_RT_INVALID_HANDLE);
    SAY(aclrtDestroyLabel(free_label), 0);
    SAY(aclrtDestroyLabel(free_label), ACL_ERROR_RT_INVALID_HANDLE);
    SAY(aclrtCreateLabelList(labels, 0, &list), ACL_ERROR_RT_PARAM_INVALID);
    return finish();
}
