/* Streams of a configuration with every attribute, random numbers on them, and a graph that jumps to labels. */
#include "program.h"

enum { BYTES = 1 << 16, NUMBERS = 4096, LABELS = 2 };

static void put(aclrtRandomParaInfo *param, const void *value, uint8_t size)
{
    memset(param, 0, sizeof *param);
    memcpy(param->valueOrAddr, value, size);
    param->size = size;
}

static aclrtStream configured(size_t flags, uint32_t priority, void *memory)
{
    aclrtStreamConfigHandle *handle = aclrtCreateStreamConfigHandle();
    size_t size = BYTES;
    uint32_t told = 0;
    aclrtStream stream;

    require(handle != NULL, "there is a configuration");
    DO(aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_WORK_ADDR_PTR, &memory, sizeof(memory)));
    DO(aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_WORK_SIZE, &size, sizeof(size)));
    DO(aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_FLAG, &flags, sizeof(flags)));
    DO(aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_PRIORITY, &priority, sizeof(priority)));
    DO(aclrtCreateStreamV2(&stream, handle));
    DO(aclrtDestroyStreamConfigHandle(handle));
    DO(aclrtStreamGetFlags(stream, &told));
    printf("flags %u, ", told);
    DO(aclrtStreamGetPriority(stream, &told));
    printf("priority %u\n", told);
    return stream;
}

static void random_numbers(aclrtStream stream, float *numbers, uint64_t *counter)
{
    aclrtRandomNumTaskInfo info;
    uint64_t seed = 7, count = NUMBERS;
    float low = 2, high = 3;

    memset(&info, 0, sizeof info);
    info.dataType = ACL_FLOAT;
    info.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS;
    info.randomResultAddr = numbers;
    info.randomCounterAddr = counter;
    put(&info.randomSeed, &seed, 8);
    put(&info.randomNum, &count, 8);
    put(&info.randomNumFuncParaInfo.paramInfo.uniformDisInfo.min, &low, 4);
    put(&info.randomNumFuncParaInfo.paramInfo.uniformDisInfo.max, &high, 4);
    DO(aclrtRandomNumAsync(&info, stream, NULL));
}

/* The second label is jumped to: what lies between is left out. */
static void labels(aclrtStream stream, uint8_t *memory, uint32_t *index)
{
    aclrtLabel label[LABELS];
    aclrtLabelList list;
    aclrtStream part = configured(ACL_STREAM_PERSISTENT, 0, memory);
    aclmdlRI model;

    for (int i = 0; i < LABELS; i++) {
        DO(aclrtCreateLabel(&label[i]));
    }
    DO(aclrtCreateLabelList(label, LABELS, &list));
    DO(aclmdlRIBuildBegin(&model, 0));
    DO(aclmdlRIBindStream(model, part, ACL_MODEL_STREAM_FLAG_HEAD));
    DO(aclrtSwitchLabelByIndex(index, LABELS, list, part));
    DO(aclrtSetLabel(label[0], part));
    DO(aclrtMemsetAsync(memory, BYTES, 1, BYTES, part));
    DO(aclrtSetLabel(label[1], part));
    DO(aclrtMemsetAsync(memory + 1, BYTES - 1, 2, 1, part));
    DO(aclmdlRIEndTask(model, part));
    DO(aclmdlRIBuildEnd(model, NULL));
    for (uint32_t to = 0; to < LABELS; to++) {
        uint8_t start[2] = {9, 9};

        memcpy(memory, start, sizeof start);
        *index = LABELS - 1 - to;
        DO(aclmdlRIExecuteAsync(model, stream));
        DO(aclrtSynchronizeStream(stream));
        printf("label %u: %u %u\n", *index, memory[0], memory[1]);
    }
    DO(aclmdlRIUnbindStream(model, part));
    DO(aclmdlRIDestroy(model));
    DO(aclrtDestroyLabelList(list));
    DO(aclrtDestroyLabel(label[0]));
    DO(aclrtDestroyLabel(label[1]));
    DO(aclrtDestroyStream(part));
}

int main(void)
{
    aclrtStream streams[2];
    uint64_t *counter;
    float *numbers;
    uint8_t *memory;
    int within = 0;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc((void **)&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMalloc((void **)&numbers, NUMBERS * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMalloc((void **)&counter, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    counter[0] = 0;
    streams[0] = configured(ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC, 2, memory);
    streams[1] = configured(0, 0, memory);
    for (int round = 0; round < 5; round++) {
        random_numbers(streams[0], numbers, counter);
        DO(aclrtMemsetAsync(memory, BYTES, round, BYTES, streams[0]));
        DO(aclrtSynchronizeStream(streams[0]));
    }
    for (int i = 0; i < NUMBERS; i++) {
        within += numbers[i] >= 2 && numbers[i] <= 3;
    }
    printf("%d of %d within, counter %llu\n", within, NUMBERS, (unsigned long long)counter[0]);
    labels(streams[1], memory, (uint32_t *)counter);
    DO(aclrtDestroyStream(streams[0]));
    DO(aclrtDestroyStream(streams[1]));
    DO(aclrtFree(memory));
    DO(aclrtFree(numbers));
    DO(aclrtFree(counter));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
