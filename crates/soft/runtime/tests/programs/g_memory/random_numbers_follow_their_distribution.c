/* Random numbers of every distribution and type; the same counter and seed give the same, the counter moves on. */
#include "../check.h"
#include <math.h>

enum { COUNT = 20000 };

static void put(aclrtRandomParaInfo *param, const void *value, uint8_t size)
{
    memset(param, 0, sizeof *param);
    memcpy(param->valueOrAddr, value, size);
    param->size = size;
}

static aclrtRandomNumTaskInfo task(aclDataType type, aclrtRandomNumFuncType function, void *result, void *counter)
{
    aclrtRandomNumTaskInfo info;
    uint64_t seed = 7, count = COUNT;
    memset(&info, 0, sizeof info);
    info.dataType = type;
    info.randomNumFuncParaInfo.funcType = function;
    info.randomResultAddr = result;
    info.randomCounterAddr = counter;
    put(&info.randomSeed, &seed, 8);
    put(&info.randomNum, &count, 8);
    return info;
}

int main(void)
{
    aclrtStream stream;
    float *result, first[COUNT], mean = 3, deviation = 2, low = -1, high = 4, ratio = 0.25f;
    uint64_t *counter;
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc((void **)&result, COUNT * 8, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc((void **)&counter, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    counter[0] = 0;

    aclrtRandomNumTaskInfo normal = task(ACL_FLOAT, ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS, result, counter);
    put(&normal.randomNumFuncParaInfo.paramInfo.normalDisInfo.mean, &mean, 4);
    put(&normal.randomNumFuncParaInfo.paramInfo.normalDisInfo.stddev, &deviation, 4);
    OK(aclrtRandomNumAsync(&normal, stream, NULL));
    OK(aclrtSynchronizeStream(stream));
    double sum = 0, squares = 0;
    for (int i = 0; i < COUNT; i++) {
        first[i] = result[i];
        sum += result[i];
        squares += (result[i] - 3.0) * (result[i] - 3.0);
    }
    TRUE(fabs(sum / COUNT - 3) < 0.1 && fabs(sqrt(squares / COUNT) - 2) < 0.1);
    EXPECT(counter[0], COUNT);
    OK(aclrtRandomNumAsync(&normal, stream, NULL));
    OK(aclrtSynchronizeStream(stream));
    TRUE(memcmp(first, result, sizeof first) != 0);
    counter[0] = 0;
    OK(aclrtRandomNumAsync(&normal, stream, NULL));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(memcmp(first, result, sizeof first), 0);

    normal.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS;
    OK(aclrtRandomNumAsync(&normal, stream, NULL));
    OK(aclrtSynchronizeStream(stream));
    int outside = 0;
    for (int i = 0; i < COUNT; i++) {
        outside += result[i] < -1.0001f || result[i] > 7.0001f;
    }
    EXPECT(outside, 0);

    aclrtRandomNumTaskInfo uniform = task(ACL_FLOAT, ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, result, counter);
    /* The lower end is read from device memory when the task runs. */
    float *in_device;
    OK(aclrtMalloc((void **)&in_device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    *in_device = low;
    put(&uniform.randomNumFuncParaInfo.paramInfo.uniformDisInfo.min, &in_device, 8);
    uniform.randomNumFuncParaInfo.paramInfo.uniformDisInfo.min.isAddr = 1;
    uniform.randomNumFuncParaInfo.paramInfo.uniformDisInfo.min.size = 4;
    put(&uniform.randomNumFuncParaInfo.paramInfo.uniformDisInfo.max, &high, 4);
    OK(aclrtRandomNumAsync(&uniform, stream, NULL));
    OK(aclrtSynchronizeStream(stream));
    int below = 0;
    outside = 0;
    for (int i = 0; i < COUNT; i++) {
        outside += result[i] < low || result[i] > high;
        below += result[i] < 1.5f;
    }
    EXPECT(outside, 0);
    TRUE(below > COUNT * 0.45 && below < COUNT * 0.55);

    int32_t from = -5, to = 5;
    aclrtRandomNumTaskInfo whole = task(ACL_INT32, ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, result, counter);
    put(&whole.randomNumFuncParaInfo.paramInfo.uniformDisInfo.min, &from, 4);
    put(&whole.randomNumFuncParaInfo.paramInfo.uniformDisInfo.max, &to, 4);
    OK(aclrtRandomNumAsync(&whole, stream, NULL));
    OK(aclrtSynchronizeStream(stream));
    outside = 0;
    for (int i = 0; i < COUNT; i++) {
        int32_t number = ((int32_t *)result)[i];
        outside += number < from || number > to;
    }
    EXPECT(outside, 0);

    aclrtRandomNumTaskInfo mask = task(ACL_FLOAT, ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK, result, counter);
    put(&mask.randomNumFuncParaInfo.paramInfo.dropoutBitmaskInfo.dropoutRation, &ratio, 4);
    OK(aclrtRandomNumAsync(&mask, stream, NULL));
    OK(aclrtSynchronizeStream(stream));
    int set = 0;
    for (int i = 0; i < COUNT / 8; i++) {
        set += __builtin_popcount(((uint8_t *)result)[i]);
    }
    TRUE(set > COUNT * 0.7 && set < COUNT * 0.8);

    whole.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS;
    EXPECT(aclrtRandomNumAsync(&whole, stream, NULL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    whole = task(ACL_INT32, ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, NULL, counter);
    EXPECT(aclrtRandomNumAsync(&whole, stream, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtRandomNumAsync(NULL, stream, NULL), ACL_ERROR_INVALID_PARAM);
    return finish();
}
