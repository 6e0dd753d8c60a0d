#include "../cases.h"
#include <acl/acl_rt_memory_soma.h>
#include <math.h>

/* Sizes and policies are checked, and a pointer is freed once and as what it is. */
CASE(allocations_are_checked)
{
    void *device = NULL, *host = NULL;
    EXPECT(aclrtMalloc(&device, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMalloc(NULL, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMalloc(&device, 64, (aclrtMemMallocPolicy)0x4000), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtMalloc(&device, 100, ACL_MEM_MALLOC_NORMAL_ONLY));
    EXPECT((uintptr_t)device % 64, 0);
    OK(aclrtMallocHost(&host, 100));
    EXPECT((uintptr_t)host % 64, 0);
    EXPECT(aclrtFree(host), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtFreeHost(device), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtFree(NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtFreeHost(NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtFree((char *)device + 64), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtFree(device));
    EXPECT(aclrtFree(device), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtFreeHost(host));
    OK(aclrtMallocCached(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtFreeWithDevSync(device));
    OK(aclrtMallocAlign32(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtFree(device));
    EXPECT(aclrtMallocHost(&host, 0), ACL_ERROR_INVALID_PARAM);
}

/* The direction of a copy follows from the addresses, whatever the kind says. */
CASE(copies_move_bytes_in_every_direction)
{
    enum { SIZE = 100000 };
    static unsigned char from[SIZE], to[SIZE];
    void *first, *second;
    for (int i = 0; i < SIZE; i++) {
        from[i] = (unsigned char)(i * 7);
    }
    OK(aclrtMalloc(&first, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&second, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(first, SIZE, from, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(second, SIZE, first, SIZE, ACL_MEMCPY_HOST_TO_HOST));
    OK(aclrtMemcpy(to, SIZE, second, SIZE, ACL_MEMCPY_DEFAULT));
    EXPECT(memcmp(from, to, SIZE), 0);
    OK(aclrtMemset(second, SIZE, 0xab, SIZE / 2));
    OK(aclrtMemcpy(to, SIZE, second, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(to[SIZE / 2 - 1], 0xab);
    EXPECT(memcmp(from + SIZE / 2, to + SIZE / 2, SIZE / 2), 0);
    OK(aclrtMemcpy(first, SIZE, first, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtMemsetD32(first, SIZE, 0x01020304, SIZE / 4));
    OK(aclrtMemcpy(to, SIZE, first, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(to[SIZE - 4], 4);
    EXPECT(to[3], 1);
}

/* A device has so much memory, and tells how much is left.
   SOFTACL: memory=8388608 */
CASE(device_memory_is_limited)
{
    void *big, *second;
    size_t free_before = 0, free_after = 0, total = 0;
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total));
    EXPECT(total, 8388608);
    EXPECT(free_before, total);
    OK(aclrtMalloc(&big, 6 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(aclrtMalloc(&second, 4 << 20, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total));
    TRUE(free_after <= free_before - (6 << 20) && free_after >= 1 << 20);
    OK(aclrtFree(big));
    OK(aclrtMalloc(&second, 4 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(aclrtGetMemInfo(ACL_HBM_MEM, NULL, &total), ACL_ERROR_INVALID_PARAM);
}

static void slow(void *data)
{
    sleep_ms(30);
    count_call(data);
}

/* An asynchronous copy with pageable host memory waits for the stream and is done on return. */
CASE(pageable_copies_are_synchronous)
{
    enum { SIZE = 1000 };
    static char pageable[SIZE];
    aclrtStream stream;
    void *device;
    int calls = 0;
    uint32_t before = 0, after = 0;
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemsetAsync(device, SIZE, 3, SIZE, stream));
    OK(aclrtLaunchHostFunc(stream, slow, &calls));
    OK(aclrtGetThreadLastTaskId(&before));
    OK(aclrtMemcpyAsync(pageable, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    EXPECT(calls, 1);
    EXPECT(pageable[SIZE - 1], 3);
    OK(aclrtGetThreadLastTaskId(&after));
    EXPECT(before, 1);
    EXPECT(after, before);
}

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

/* Random numbers of every distribution and type; the same counter and seed give the same, the counter moves on. */
CASE(random_numbers_follow_their_distribution)
{
    aclrtStream stream;
    float *result, first[COUNT], mean = 3, deviation = 2, low = -1, high = 4, ratio = 0.25f;
    uint64_t *counter;
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
}

/* ReduceAsync adds, or keeps the larger or smaller element. */
CASE(reductions_combine_elements)
{
    enum { N = 50 };
    float *host;
    float *first, *second;
    aclrtStream stream;
    OK(aclrtCreateStream(&stream));
    OK(aclrtMallocHost((void **)&host, N * 4));
    OK(aclrtMalloc((void **)&first, N * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc((void **)&second, N * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < N; i++) {
        host[i] = (float)i;
    }
    OK(aclrtMemcpyAsync(first, N * 4, host, N * 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtMemcpyAsync(second, N * 4, host, N * 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtReduceAsync(first, second, N * 4, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, stream, NULL));
    OK(aclrtReduceAsync(second, first, N * 4, ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX, ACL_FLOAT, stream, NULL));
    OK(aclrtMemcpyAsync(host, N * 4, second, N * 4, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtSynchronizeStream(stream));
    TRUE(host[0] == 0 && host[1] == 2 && host[N - 1] == 2 * (N - 1));
    EXPECT(aclrtReduceAsync(first, second, N * 4, (aclrtReduceKind)1, ACL_FLOAT, stream, NULL),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtReduceAsync(first, second, 3, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, stream, NULL),
           ACL_ERROR_RT_PARAM_INVALID);
}

/* Host memory can be registered once; then copies with it are tasks. */
CASE(registered_memory_is_pinned)
{
    enum { SIZE = 8192 };
    void *memory = NULL, *mapped = NULL, *device;
    aclrtStream stream;
    aclrtPtrAttributes attributes;
    uint32_t task = 99;
    OK(aclrtCreateStream(&stream));
    EXPECT(posix_memalign(&memory, 4096, SIZE), 0);
    OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtPointerGetAttributes(memory, &attributes));
    EXPECT(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    EXPECT(aclrtHostRegister((char *)memory + 8, 64, ACL_HOST_REGISTER_MAPPED, &mapped),
           ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtHostRegister(memory, SIZE, ACL_HOST_REGISTER_MAPPED, &mapped));
    TRUE(mapped != NULL);
    EXPECT(aclrtHostRegisterV2(memory, 4096, ACL_HOST_REG_MAPPED),
           ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(aclrtPointerGetAttributes(memory, &attributes));
    EXPECT(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
    OK(aclrtPointerGetAttributes(device, &attributes));
    EXPECT(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
    EXPECT(attributes.location.id, 0);
    OK(aclrtMemcpyAsync(device, SIZE, memory, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtGetThreadLastTaskId(&task));
    EXPECT(task, 0);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtHostGetDevicePointer(memory, &mapped, 0));
    OK(aclrtHostUnregister(memory));
    EXPECT(aclrtHostUnregister(memory), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

/* 2D copies move rows and leave the rest alone. */
CASE(rows_are_copied_with_pitches)
{
    enum { WIDTH = 10, ROWS = 7, PITCH = 16 };
    unsigned char *host, *back;
    void *device;
    aclrtStream stream;
    OK(aclrtCreateStream(&stream));
    OK(aclrtMallocHost((void **)&host, PITCH * ROWS));
    OK(aclrtMallocHost((void **)&back, PITCH * ROWS));
    OK(aclrtMalloc(&device, WIDTH * ROWS, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < PITCH * ROWS; i++) {
        host[i] = (unsigned char)i;
        back[i] = 0xff;
    }
    OK(aclrtMemcpy2d(device, WIDTH, host, PITCH, WIDTH, ROWS, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy2dAsync(back, PITCH, device, WIDTH, WIDTH, ROWS, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtSynchronizeStream(stream));
    int wrong = 0;
    for (int row = 0; row < ROWS; row++) {
        for (int column = 0; column < PITCH; column++) {
            int expected = column < WIDTH ? host[row * PITCH + column] : 0xff;
            wrong += back[row * PITCH + column] != expected;
        }
    }
    EXPECT(wrong, 0);
    EXPECT(aclrtMemcpy2d(device, WIDTH, host, PITCH, WIDTH + 1, ROWS, ACL_MEMCPY_HOST_TO_DEVICE),
           ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemcpy2d(device, WIDTH, host, PITCH, WIDTH, ROWS + 1, ACL_MEMCPY_HOST_TO_DEVICE),
           ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtMemcpy2d(device, WIDTH, host, PITCH, WIDTH, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy2dAsync(NULL, 0, NULL, 0, 0, ROWS, ACL_MEMCPY_HOST_TO_DEVICE, stream));
}

/* Lengths, pointers and ranges of copies are checked. */
CASE(wrong_copies_are_refused)
{
    char buffer[64];
    void *device, *pinned;
    aclrtStream stream;
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&pinned, 64));
    EXPECT(aclrtMemcpy(device, 64, buffer, 65, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtMemcpy(device, 64, buffer, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT(aclrtMemcpy(NULL, 64, buffer, 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemcpy(device, 64, NULL, 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemcpyAsync(device, 64, pinned, 65, ACL_MEMCPY_HOST_TO_DEVICE, stream),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemcpyAsync(device, 4096, pinned, 2048, ACL_MEMCPY_HOST_TO_DEVICE, stream),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemcpyAsync(pinned, 64, buffer, 64, ACL_MEMCPY_HOST_TO_HOST, stream),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtMemset(device, 64, 0, 65), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemset(NULL, 64, 0, 64), ACL_ERROR_INVALID_PARAM);
    OK(aclrtMemsetAsync(device, 64, 0, 0, stream));
    EXPECT(aclrtMemsetAsync(buffer, 64, 0, 64, stream), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtFree(device));
    EXPECT(aclrtMemcpy(device, 64, buffer, 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtSynchronizeStream(stream));
}

/* A batch copies all of its parts, or names the first bad one. */
BARE_CASE(batches_tell_which_copy_is_wrong)
{
    enum { PARTS = 4, SIZE = 256 };
    void *host[PARTS], *device[PARTS], *back[PARTS];
    size_t sizes[PARTS], lengths[PARTS] = {SIZE, SIZE, SIZE, SIZE}, at = 99, index = 0;
    aclrtMemcpyBatchAttr attr;
    aclrtStream stream;
    memset(&attr, 0, sizeof attr);
    start();
    OK(aclrtCreateStream(&stream));
    for (int i = 0; i < PARTS; i++) {
        sizes[i] = SIZE;
        OK(aclrtMallocHost(&host[i], SIZE));
        OK(aclrtMallocHost(&back[i], SIZE));
        OK(aclrtMalloc(&device[i], SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
        memset(host[i], i + 1, SIZE);
    }
    OK(aclrtMemcpyBatch(device, sizes, host, sizes, PARTS, &attr, &index, 1, &at));
    OK(aclrtMemcpyBatchAsync(back, sizes, device, sizes, PARTS, &attr, &index, 1, &at, stream));
    OK(aclrtSynchronizeStream(stream));
    for (int i = 0; i < PARTS; i++) {
        EXPECT(memcmp(host[i], back[i], SIZE), 0);
    }
    device[2] = NULL;
    EXPECT(aclrtMemcpyBatchAsync(back, sizes, device, sizes, PARTS, &attr, &index, 1, &at, stream),
           ACL_ERROR_INVALID_PARAM);
    EXPECT(at, 2);
    EXPECT(aclrtMemcpyBatch(back, sizes, host, sizes, PARTS, &attr, &index, 1, &at),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(at, 0);
    EXPECT(aclrtMemcpyBatch(back, sizes, host, sizes, 0, &attr, &index, 1, &at),
           ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemcpyBatch(back, sizes, host, sizes, PARTS, &attr, &index, 1, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemcpyBatch(back, sizes, host, NULL, PARTS, &attr, &index, 1, &at), ACL_ERROR_INVALID_PARAM);
    sizes[3] = 0;
    EXPECT(aclrtMemcpyBatch(back, sizes, host, lengths, PARTS, &attr, &index, 1, &at), ACL_ERROR_INVALID_PARAM);
    memset(lengths, 0, sizeof lengths);
    OK(aclrtMemcpyBatch(NULL, NULL, NULL, lengths, PARTS, NULL, NULL, 0, &at));
    TRUE(at == SIZE_MAX);
    OK(aclrtMemcpyBatchAsync(NULL, NULL, NULL, lengths, PARTS, NULL, NULL, 0, &at, stream));
}

/* Physical memory can be mapped at reserved addresses, at several at once. */
BARE_CASE(physical_memory_shows_at_two_addresses)
{
    enum { SIZE = 2 << 20 };
    void *address = NULL, *one, *two;
    aclrtDrvMemHandle handle = NULL, found = NULL;
    aclrtPhysicalMemProp properties;
    size_t granularity = 0;
    int value = 0;
    memset(&properties, 0, sizeof properties);
    start();
    OK(aclrtMemGetAllocationGranularity(&properties, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM,
                                        &granularity));
    EXPECT(granularity, SIZE);
    OK(aclrtReserveMemAddress(&address, 2 * SIZE, 0, NULL, 1));
    one = address;
    two = (char *)address + SIZE;
    OK(aclrtMallocPhysical(&handle, SIZE, &properties, 0));
    OK(aclrtMapMem(one, SIZE, 0, handle, 0));
    EXPECT(aclrtMapMem(one, SIZE, 0, handle, 0), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtMapMem(two, SIZE, 0, handle, 0));
    OK(aclrtMemset(one, SIZE, 0x11, SIZE));
    OK(aclrtMemcpy(&value, 4, (char *)two + 400, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(value, 0x11111111);
    OK(aclrtMemRetainAllocationHandle((char *)two + 5, &found));
    TRUE(found == handle);
    EXPECT(aclrtReleaseMemAddress(address), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtUnmapMem(one));
    OK(aclrtUnmapMem(two));
    EXPECT(aclrtUnmapMem(two), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtFreePhysical(handle));
    EXPECT(aclrtFreePhysical(handle), ACL_ERROR_RT_INVALID_HANDLE);
    OK(aclrtReleaseMemAddress(address));
    EXPECT(aclrtReleaseMemAddress(address), ACL_ERROR_RT_PARAM_INVALID);
}

/* Memory of a pool is given back when the stream gets there. */
BARE_CASE(pool_memory_is_freed_in_stream_order)
{
    aclrtMemPool pool = NULL;
    aclrtMemPoolProps properties;
    aclrtStream stream;
    struct gate gate = {0, 0};
    void *memory = NULL, *base = NULL;
    size_t size = 0;
    memset(&properties, 0, sizeof properties);
    start();
    OK(aclrtCreateStream(&stream));
    OK(aclrtMemPoolCreate(&pool, &properties));
    EXPECT(aclrtMemPoolMallocAsync(&memory, 1000, NULL, stream), ACL_ERROR_INVALID_PARAM);
    OK(aclrtMemPoolMallocAsync(&memory, 1000, pool, stream));
    OK(aclrtMemsetAsync(memory, 1000, 1, 1000, stream));
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    OK(aclrtMemPoolFreeAsync(memory, stream));
    OK(aclrtMemGetAddressRange((char *)memory + 10, &base, &size));
    TRUE(base == memory && size == 1000);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(stream));
    EXPECT(aclrtMemGetAddressRange((char *)memory + 10, &base, &size), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtMemPoolTrimTo(pool, 0));
    OK(aclrtMemPoolDestroy(pool));
    EXPECT(aclrtMemPoolDestroy(pool), ACL_ERROR_RT_INVALID_HANDLE);
}

static size_t left(void)
{
    size_t unused = 0, total = 0;
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &unused, &total));
    return unused;
}

enum { SIZE = 2 << 20 };

/* Addresses can be reserved beyond the memory that there is. What is mapped there counts, and holds data across the borders of mappings. */
BARE_CASE(reserved_addresses_are_no_memory)
{
    void *small = NULL, *large = NULL;
    aclrtDrvMemHandle first = NULL, second = NULL;
    aclrtPhysicalMemProp properties;
    aclrtPtrAttributes attributes;
    char text[] = "across the border", back[sizeof text] = "";
    size_t before;
    memset(&properties, 0, sizeof properties);
    start();
    before = left();
    EXPECT(aclrtReserveMemAddress(&small, 0, 0, NULL, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtReserveMemAddress(&small, 512, 4096, NULL, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtReserveMemAddress(&small, 512, 0, NULL, 2), ACL_ERROR_INVALID_PARAM);
    OK(aclrtReserveMemAddress(&small, 512, 0, NULL, 0));
    OK(aclrtReserveMemAddress(&large, (size_t)60 << 30, 0, NULL, 1));
    EXPECT(left(), before);
    EXPECT(aclrtMemcpy(large, 8, text, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);

    OK(aclrtMallocPhysical(&first, SIZE, &properties, 0));
    OK(aclrtMallocPhysical(&second, SIZE, &properties, 0));
    EXPECT(left(), before - 2 * SIZE);
    OK(aclrtMapMem(large, SIZE, 0, first, 0));
    OK(aclrtMapMem((char *)large + SIZE, SIZE, 0, second, 0));
    OK(aclrtMemcpy((char *)large + SIZE - 5, sizeof text, text, sizeof text,
                   ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(back, sizeof back, (char *)large + SIZE - 5, sizeof back,
                   ACL_MEMCPY_DEVICE_TO_HOST));
    TRUE(strcmp(back, text) == 0);
    EXPECT(aclrtMemcpy((char *)large + 2 * SIZE - 5, sizeof text, text, sizeof text,
                       ACL_MEMCPY_HOST_TO_DEVICE),
           ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtPointerGetAttributes(large, &attributes));
    EXPECT(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);

    OK(aclrtFreePhysical(first));
    EXPECT(left(), before - 2 * SIZE);
    OK(aclrtUnmapMem(large));
    EXPECT(left(), before - SIZE);
    OK(aclrtUnmapMem((char *)large + SIZE));
    OK(aclrtFreePhysical(second));
    EXPECT(left(), before);
    OK(aclrtReleaseMemAddress(large));
    OK(aclrtReleaseMemAddress(small));
}
