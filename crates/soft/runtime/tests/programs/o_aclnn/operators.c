#include "../cases.h"
#include "../operators.h"
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_cast.h>
#include <aclnnop/aclnn_matmul.h>
#include <aclnnop/aclnn_mm.h>
#include <aclnnop/aclnn_mul.h>
#include <aclnnop/aclnn_one.h>
#include <aclnnop/aclnn_softmax.h>

/* The operator layer has a code of its own for what the runtime refuses. */
CASE(a_capture_that_failed_takes_no_operator)
{
    uint64_t size;
    aclOpExecutor *executor;
    aclrtStream stream, other;
    aclrtEvent event;
    aclmdlRI model = NULL;
    float *data = device_memory(16);
    aclTensor *x = vector_of(ACL_FLOAT, data, 4);
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclnnInplaceOneGetWorkspaceSize(x, &size, &executor));
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    OK(aclmdlRICaptureBegin(other, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    /* Two captures must not touch. */
    OK(aclrtRecordEvent(event, stream));
    TRUE(aclrtStreamWaitEvent(other, event) != ACL_SUCCESS);
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    /* The capture is lost, and only its end says so. */
    OK(aclnnInplaceOne(NULL, 0, executor, stream));
    EXPECT(aclnnInplaceOne(NULL, 0, executor, stream), ACLNN_ERR_PARAM_INVALID);
    TRUE(data[0] == 0);
    TRUE(aclmdlRICaptureEnd(stream, &model) != ACL_SUCCESS);
    TRUE(aclmdlRICaptureEnd(other, &model) != ACL_SUCCESS);
    OK(aclnnInplaceOneGetWorkspaceSize(x, &size, &executor));
    EXPECT(aclnnInplaceOne(NULL, 0, executor, x), ACLNN_ERR_RUNTIME_ERROR);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_HANDLE);
    OK(aclnnInplaceOneGetWorkspaceSize(x, &size, &executor));
    OK(aclnnInplaceOne(NULL, 0, executor, stream));
    OK(aclrtSynchronizeStream(stream));
    TRUE(data[0] == 1 && data[3] == 1);
}

/* A task group's operator is exchanged for one with other tensors between replays. */
CASE(a_captured_operator_can_be_replaced)
{
    float ones[2] = {1, 1}, tens[2] = {10, 10}, got[2] = {0, 0};
    uint64_t size;
    aclOpExecutor *executor;
    aclrtStream stream, side;
    aclrtTaskGrp group = NULL;
    aclmdlRI model = NULL;
    void *a = uploaded(ones, 8), *b = uploaded(tens, 8), *sum = uploaded(ones, 8);
    aclTensor *x = vector_of(ACL_FLOAT, a, 2), *y = vector_of(ACL_FLOAT, b, 2);
    aclTensor *out = vector_of(ACL_FLOAT, sum, 2);
    aclScalar *one = scalar_of(1), *two = scalar_of(2);
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&side));

    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclmdlRICaptureTaskGrpBegin(stream));
    OK(aclnnAddGetWorkspaceSize(x, y, one, out, &size, &executor));
    OK(aclnnAdd(NULL, 0, executor, stream));
    OK(aclmdlRICaptureTaskGrpEnd(stream, &group));
    OK(aclmdlRICaptureEnd(stream, &model));
    OK(aclmdlRIExecuteAsync(model, stream));
    OK(aclrtSynchronizeStream(stream));
    download(got, sum, 8);
    TRUE(got[0] == 11 && got[1] == 11);

    OK(aclmdlRICaptureTaskUpdateBegin(side, group));
    OK(aclnnAddGetWorkspaceSize(y, y, two, out, &size, &executor));
    OK(aclnnAdd(NULL, 0, executor, side));
    OK(aclmdlRICaptureTaskUpdateEnd(side));
    OK(aclrtSynchronizeStream(side));
    OK(aclmdlRIExecuteAsync(model, stream));
    OK(aclrtSynchronizeStream(stream));
    download(got, sum, 8);
    TRUE(got[0] == 30 && got[1] == 30);
    OK(aclmdlRIDestroy(model));
}

/* A repeatable executor stays until it is destroyed, and its tensors may move. */
CASE(a_repeatable_executor_runs_again)
{
    float one[2] = {1, 2}, ten[2] = {10, 20}, got[2] = {0, 0};
    uint64_t size;
    aclOpExecutor *executor, *single;
    void *address = NULL;
    void *a = uploaded(one, 8), *b = uploaded(ten, 8), *c = uploaded(ten, 8);
    aclTensor *x = vector_of(ACL_FLOAT, NULL, 2), *y = vector_of(ACL_FLOAT, b, 2);
    aclTensor *out = vector_of(ACL_FLOAT, NULL, 2);
    aclScalar *alpha = scalar_of(1);
    OK(aclnnAddGetWorkspaceSize(x, y, alpha, out, &size, &executor));
    OK(aclSetAclOpExecutorRepeatable(executor));
    EXPECT(aclnnAdd(NULL, 0, executor, NULL), ACLNN_ERR_PARAM_NULLPTR);
    OK(aclSetTensorAddr(executor, 0, x, a));
    OK(aclSetTensorAddr(executor, 2, out, c));
    for (int i = 0; i < 3; i++) {
        OK(aclnnAdd(NULL, 0, executor, NULL));
    }
    OK(aclrtSynchronizeStream(NULL));
    download(got, c, 8);
    TRUE(got[0] == 11 && got[1] == 22);

    /* What was submitted keeps the addresses it had. */
    struct gate gate = {0, 0};
    OK(aclrtLaunchHostFunc(NULL, wait_at_gate, &gate));
    OK(aclSetInputTensorAddr(executor, 1, y, c));
    OK(aclSetOutputTensorAddr(executor, 0, out, a));
    OK(aclGetRawTensorAddr(out, &address));
    TRUE(address == a);
    OK(aclnnAdd(NULL, 0, executor, NULL));
    OK(aclSetOutputTensorAddr(executor, 0, out, b));
    open_gate(&gate);
    OK(aclrtSynchronizeStream(NULL));
    download(got, a, 8);
    TRUE(got[0] == 12 && got[1] == 24);
    download(got, b, 8);
    TRUE(got[0] == 10 && got[1] == 20);

    EXPECT(aclSetTensorAddr(executor, 3, out, a), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclSetInputTensorAddr(executor, 2, x, a), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclSetOutputTensorAddr(executor, 1, out, a), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclSetTensorAddr(NULL, 0, x, a), ACLNN_ERR_INNER_NULLPTR);
    EXPECT(aclSetTensorAddr(executor, 0, NULL, a), ACLNN_ERR_INNER_NULLPTR);
    EXPECT(aclSetAclOpExecutorRepeatable(NULL), ACLNN_ERR_INNER_NULLPTR);

    /* Members of lists are reached by their place in the list. */
    const aclTensor *members[2] = {x, y};
    aclTensorList *list = aclCreateTensorList(members, 2);
    OK(aclSetDynamicInputTensorAddr(executor, 0, 1, list, b));
    OK(aclGetRawTensorAddr(y, &address));
    TRUE(address == b);
    EXPECT(aclSetDynamicTensorAddr(executor, 0, 2, list, b), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclSetDynamicOutputTensorAddr(executor, 0, 0, NULL, b), ACLNN_ERR_INNER_NULLPTR);

    OK(aclDestroyAclOpExecutor(executor));
    EXPECT(aclnnAdd(NULL, 0, executor, NULL), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclSetAclOpExecutorRepeatable(executor), ACLNN_ERR_PARAM_INVALID);

    /* The older names are the same functions; a tensor can also be moved by itself. */
    OK(aclnnAddGetWorkspaceSize(x, y, alpha, out, &size, &single));
    OK(AclSetTensorAddr(single, 0, x, a));
    OK(AclSetInputTensorAddr(single, 1, y, a));
    OK(aclSetRawTensorAddr(out, c));
    OK(aclnnAdd(NULL, 0, single, NULL));
    OK(aclrtSynchronizeStream(NULL));
    download(got, c, 8);
    TRUE(got[0] == 24 && got[1] == 48);
}

static aclTensor *x;
static aclScalar *one;

static aclOpExecutor *made(void)
{
    uint64_t size = 99;
    aclOpExecutor *executor = NULL;
    OK(aclnnAddGetWorkspaceSize(x, x, one, x, &size, &executor));
    EXPECT(size, 0);
    TRUE(executor != NULL);
    return executor;
}

/* The second phase uses an executor up, also when it fails. */
CASE(an_executor_is_used_once)
{
    float values[2] = {1, 2};
    void *data = uploaded(values, sizeof values);
    x = vector_of(ACL_FLOAT, data, 2);
    one = scalar_of(1);
    TRUE(x != NULL && one != NULL);

    aclOpExecutor *executor = made();
    OK(aclnnAdd(NULL, 0, executor, NULL));
    EXPECT(aclnnAdd(NULL, 0, executor, NULL), ACLNN_ERR_PARAM_INVALID);
    OK(aclrtSynchronizeStream(NULL));
    download(values, data, sizeof values);
    TRUE(values[0] == 2 && values[1] == 4);

    EXPECT(aclnnAdd(NULL, 0, NULL, NULL), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclnnAdd(NULL, 0, (aclOpExecutor *)x, NULL), ACLNN_ERR_PARAM_INVALID);

    /* An executor knows its operator. */
    executor = made();
    EXPECT(aclnnMul(NULL, 0, executor, NULL), ACLNN_ERR_PARAM_INVALID);
    OK(aclnnAdd(NULL, 0, executor, NULL));

    executor = made();
    EXPECT(aclnnAdd(NULL, 64, executor, NULL), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclnnAdd(NULL, 0, executor, NULL), ACLNN_ERR_PARAM_INVALID);

    /* What the runtime refuses is told with its own code, too. */
    executor = made();
    OK(aclrtSynchronizeStream(NULL));
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    EXPECT(aclnnAdd(NULL, 0, executor, (aclrtStream)0x10), ACLNN_ERR_RUNTIME_ERROR);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT(aclnnAdd(NULL, 0, executor, NULL), ACLNN_ERR_PARAM_INVALID);

    /* One that is not run is destroyed. */
    executor = made();
    OK(aclDestroyAclOpExecutor(executor));
    EXPECT(aclDestroyAclOpExecutor(executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclDestroyAclOpExecutor(NULL), ACLNN_ERR_INNER_NULLPTR);
    EXPECT(aclnnAdd(NULL, 0, executor, NULL), ACLNN_ERR_PARAM_INVALID);
    download(values, data, sizeof values);
    TRUE(values[0] == 4 && values[1] == 8);
}

static aclrtEvent begin, end;

/* Device time of the operator alone: the host keeps the stream waiting until all is submitted. */
static float milliseconds(aclnnStatus (*operator)(void *, uint64_t, aclOpExecutor *, aclrtStream),
                          aclOpExecutor *executor)
{
    struct gate gate = {0, 0};
    float ms = 0;
    OK(aclrtLaunchHostFunc(NULL, wait_at_gate, &gate));
    OK(aclrtRecordEvent(begin, NULL));
    OK(operator(NULL, 0, executor, NULL));
    OK(aclrtRecordEvent(end, NULL));
    /* Tasks begin no earlier than some microseconds after they were submitted. */
    sleep_ms(1);
    open_gate(&gate);
    OK(aclrtSynchronizeEvent(end));
    OK(aclrtEventElapsedTime(&ms, begin, end));
    return ms;
}

/* The time of an operator is computed from bytes and operations.
   SOFTACL: launch_ns=1000,d2d_mbps=10000000 */
CASE(durations_follow_what_is_moved_and_computed)
{
    enum { N = 1 << 18, M = 512 };
    uint64_t size;
    aclOpExecutor *executor;
    void *data = device_memory(N * 4);
    aclTensor *x = vector_of(ACL_FLOAT, data, N), *m = matrix_of(ACL_FLOAT, data, M, M);
    aclTensor *nothing = vector_of(ACL_FLOAT, data, 0);
    aclScalar *one = scalar_of(1);
    OK(aclrtCreateEventExWithFlag(&begin, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC));
    OK(aclrtCreateEventExWithFlag(&end, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC));

    /* Three tensors of 1 MiB at 10 TB/s, and the launch. */
    OK(aclnnAddGetWorkspaceSize(x, x, one, x, &size, &executor));
    float ms = milliseconds(aclnnAdd, executor);
    TRUE(ms > 0.00128f && ms < 0.00134f);

    /* 2 * 512^3 operations at 320 Tflop/s, or a quarter of that in 32 bits, take longer than their bytes. */
    void *other = device_memory(M * M * 4), *third = device_memory(M * M * 4);
    OK(aclrtMemset(data, M * M * 4, 0, M * M * 4));
    OK(aclrtMemset(other, M * M * 4, 0, M * M * 4));
    aclTensor *n = matrix_of(ACL_FLOAT, other, M, M), *p = matrix_of(ACL_FLOAT, third, M, M);
    OK(aclnnMmGetWorkspaceSize(m, n, p, 0, &size, &executor));
    ms = milliseconds(aclnnMm, executor);
    TRUE(ms > 0.00432f && ms < 0.00440f);

    OK(aclnnAddGetWorkspaceSize(nothing, nothing, one, nothing, &size, &executor));
    TRUE(milliseconds(aclnnAdd, executor) == 0);
}

/* Tensors, arrays and lists answer questions; lists take their members along. */
CASE(objects_tell_what_they_were_made_of)
{
    int64_t shape[3] = {2, 3, 4}, strides[3] = {20, 5, 1}, storage[2] = {10, 20}, offset = 0;
    int64_t *told = NULL;
    uint64_t count = 0;
    aclFormat format = ACL_FORMAT_UNDEFINED;
    aclDataType type = ACL_DT_UNDEFINED;
    void *address = NULL;
    OK(aclnnInit(NULL));
    aclTensor *x = aclCreateTensor(shape, 3, ACL_BF16, strides, 7, ACL_FORMAT_NCHW, storage, 2,
                                   storage);
    TRUE(x != NULL);
    OK(aclGetViewShape(x, &told, &count));
    TRUE(count == 3 && told && told[0] == 2 && told[1] == 3 && told[2] == 4);
    free(told);
    OK(aclGetViewStrides(x, &told, &count));
    TRUE(count == 3 && told && told[0] == 20 && told[1] == 5 && told[2] == 1);
    free(told);
    OK(aclGetStorageShape(x, &told, &count));
    TRUE(count == 2 && told && told[0] == 10 && told[1] == 20);
    free(told);
    OK(aclGetViewOffset(x, &offset));
    EXPECT(offset, 7);
    OK(aclGetFormat(x, &format));
    EXPECT(format, ACL_FORMAT_NCHW);
    OK(aclGetDataType(x, &type));
    EXPECT(type, ACL_BF16);
    OK(aclGetRawTensorAddr(x, &address));
    TRUE(address == storage);
    EXPECT(aclGetViewShape(NULL, &told, &count), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclGetViewShape(x, NULL, &count), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclGetFormat(x, NULL), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclGetDataType(NULL, &type), ACLNN_ERR_PARAM_NULLPTR);

    /* Made anew, and without strides. */
    OK(aclInitTensor(x, shape, 2, ACL_INT64, NULL, 1, ACL_FORMAT_ND, shape, 2, NULL));
    OK(aclGetViewStrides(x, &told, &count));
    TRUE(count == 2 && told && told[0] == 3 && told[1] == 1);
    free(told);
    OK(aclGetDataType(x, &type));
    EXPECT(type, ACL_INT64);
    EXPECT(aclInitTensor(NULL, shape, 2, ACL_INT64, NULL, 1, ACL_FORMAT_ND, shape, 2, NULL),
           ACLNN_ERR_PARAM_NULLPTR);

    float floats[2] = {1, 2};
    bool bools[3] = {true, false, true};
    aclIntArray *ints = aclCreateIntArray(shape, 3);
    aclFloatArray *reals = aclCreateFloatArray(floats, 2);
    aclBoolArray *flags = aclCreateBoolArray(bools, 3);
    TRUE(ints && reals && flags && aclCreateIntArray(NULL, 1) == NULL);
    OK(aclGetIntArraySize(ints, &count));
    EXPECT(count, 3);
    OK(aclGetFloatArraySize(reals, &count));
    EXPECT(count, 2);
    OK(aclGetBoolArraySize(flags, &count));
    EXPECT(count, 3);
    EXPECT(aclGetIntArraySize(NULL, &count), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclGetIntArraySize((aclIntArray *)reals, &count), ACLNN_ERR_PARAM_INVALID);
    OK(aclDestroyIntArray(ints));
    EXPECT(aclDestroyIntArray(ints), ACLNN_ERR_PARAM_INVALID);
    OK(aclDestroyFloatArray(reals));
    OK(aclDestroyBoolArray(flags));
    OK(aclDestroyBoolArray(NULL));

    aclTensor *y = vector_of(ACL_FLOAT, NULL, 1);
    const aclTensor *tensors[2] = {x, y};
    aclTensorList *list = aclCreateTensorList(tensors, 2);
    OK(aclGetTensorListSize(list, &count));
    EXPECT(count, 2);
    aclScalar *one = scalar_of(1);
    const aclScalar *scalars[1] = {one};
    aclScalarList *numbers = aclCreateScalarList(scalars, 1);
    OK(aclGetScalarListSize(numbers, &count));
    EXPECT(count, 1);
    OK(aclDestroyTensorList(list));
    EXPECT(aclDestroyTensor(x), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclGetDataType(y, &type), ACLNN_ERR_PARAM_INVALID);
    OK(aclDestroyScalarList(numbers));
    EXPECT(aclDestroyScalar(one), ACLNN_ERR_PARAM_INVALID);
    OK(aclDestroyTensor(NULL));
    OK(aclDestroyScalar(NULL));
    OK(aclnnFinalize());
}

static uint64_t nodes(aclmdlRI model)
{
    uint64_t count = 0;
    char path[] = "/tmp/softacl-operators-XXXXXX", line[1000];
    int file = mkstemp(path);
    OK(aclmdlRIDebugJsonPrint(model, path, 0));
    FILE *json = fdopen(file, "r");
    while (json && fgets(line, sizeof line, json)) {
        count += strstr(line, "\"Task Type\":") && !strstr(line, "EVENT_RESET");
    }
    if (json) {
        fclose(json);
    }
    remove(path);
    return count;
}

/* Both phases may be called while a stream captures; every replay computes with what memory holds then. Two streams are joined by plain events, as the vendor's sample does. */
CASE(operators_are_captured_and_replayed)
{
    float *host, fixed[4] = {1, 2, 3, 4};
    uint64_t size = 0, room = 0;
    aclOpExecutor *add, *mm, *none;
    aclrtStream first, second;
    aclrtEvent fork, join;
    aclmdlRI model = NULL;
    OK(aclrtMallocHost((void **)&host, 16));
    void *a = device_memory(16), *b = uploaded(fixed, 16), *c = device_memory(16);
    aclTensor *x = matrix_of(ACL_FLOAT, a, 2, 2), *y = matrix_of(ACL_FLOAT, b, 2, 2);
    aclTensor *z = matrix_of(ACL_FLOAT, c, 2, 2), *empty = matrix_of(ACL_FLOAT, c, 0, 2);
    void *halves = device_memory(64), *workspace = device_memory(4096);
    aclTensor *h = matrix_of(ACL_FLOAT16, halves, 2, 2);
    OK(aclrtMemset(halves, 64, 0, 64));
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtCreateEventExWithFlag(&fork, ACL_EVENT_SYNC));
    OK(aclrtCreateEventExWithFlag(&join, ACL_EVENT_SYNC));
    OK(aclnnAddGetWorkspaceSize(x, y, scalar_of(1.5f), z, &size, &add));

    OK(aclmdlRICaptureBegin(first, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    OK(aclrtMemcpyAsync(a, 16, host, 16, ACL_MEMCPY_HOST_TO_DEVICE, first));
    OK(aclrtRecordEvent(fork, first));
    OK(aclrtStreamWaitEvent(second, fork));
    OK(aclnnAdd(NULL, size, add, second));
    EXPECT(aclnnAdd(NULL, size, add, second), ACLNN_ERR_PARAM_INVALID);
    OK(aclnnMmGetWorkspaceSize(h, h, z, 0, &room, &mm));
    TRUE(room > 0 && room <= 4096);
    OK(aclDestroyAclOpExecutor(mm));
    OK(aclnnMmGetWorkspaceSize(h, h, h, 0, &room, &mm));
    OK(aclnnMm(workspace, room, mm, second));
    OK(aclnnMulGetWorkspaceSize(empty, empty, empty, &size, &none));
    OK(aclnnMul(NULL, 0, none, second));
    OK(aclrtRecordEvent(join, second));
    OK(aclrtStreamWaitEvent(first, join));
    OK(aclrtMemcpyAsync(host, 16, c, 16, ACL_MEMCPY_DEVICE_TO_HOST, first));
    OK(aclmdlRICaptureEnd(first, &model));
    /* Two copies, four events, a sum, a product of two conversions more and one back. */
    EXPECT(nodes(model), 2 + 4 + 1 + 4);
    OK(aclDestroyTensor(x));
    OK(aclDestroyTensor(y));
    OK(aclDestroyTensor(z));

    for (int i = 0; i < 4; i++) {
        host[i] = (float)i;
    }
    for (int round = 1; round <= 5; round++) {
        OK(aclmdlRIExecuteAsync(model, round % 2 ? first : second));
        OK(aclrtSynchronizeStream(round % 2 ? first : second));
        for (int i = 0; i < 4; i++) {
            TRUE(host[i] == (float)i + (float)round * 1.5f * fixed[i]);
        }
    }
    OK(aclmdlRIDestroy(model));
}

/* Tensors are read when the task runs, not when it is submitted. */
CASE(operators_take_their_turn_in_the_stream)
{
    enum { N = 1000 };
    float *host;
    uint64_t size;
    aclOpExecutor *add, *mul;
    aclrtStream stream, other;
    aclrtEvent event;
    OK(aclrtMallocHost((void **)&host, N * 4));
    for (int i = 0; i < N; i++) {
        host[i] = (float)i;
    }
    void *x = device_memory(N * 4), *y = device_memory(N * 4);
    OK(aclrtMemset(x, N * 4, 0, N * 4));
    OK(aclrtMemset(y, N * 4, 0, N * 4));
    aclTensor *tx = vector_of(ACL_FLOAT, x, N), *ty = vector_of(ACL_FLOAT, y, N);
    aclScalar *two = scalar_of(2);
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclnnAddGetWorkspaceSize(ty, tx, two, ty, &size, &add));
    OK(aclnnMulGetWorkspaceSize(ty, tx, ty, &size, &mul));

    struct gate gate = {0, 0};
    OK(aclrtLaunchHostFunc(stream, wait_at_gate, &gate));
    OK(aclrtMemcpyAsync(x, N * 4, host, N * 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclnnAdd(NULL, 0, add, stream));
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtStreamWaitEvent(other, event));
    OK(aclnnMul(NULL, 0, mul, other));
    /* Tensors and scalars may go before the task runs. */
    OK(aclDestroyTensor(tx));
    OK(aclDestroyTensor(ty));
    OK(aclDestroyScalar(two));
    host[1] = 100;
    float early[2] = {1, 1};
    download(early, y, sizeof early);
    TRUE(early[0] == 0 && early[1] == 0);
    open_gate(&gate);
    OK(aclrtSynchronizeStream(other));
    OK(aclrtMemcpy(host, N * 4, y, N * 4, ACL_MEMCPY_DEVICE_TO_HOST));
    TRUE(host[1] == 20000);
    for (int i = 2; i < N; i++) {
        if (host[i] != 2.0f * (float)i * (float)i) {
            EXPECT(i, -1);
        }
    }
}

static int run(aclTensor *tensor)
{
    uint64_t size;
    aclOpExecutor *executor;
    OK(aclnnInplaceOneGetWorkspaceSize(tensor, &size, &executor));
    return aclnnInplaceOne(NULL, size, executor, NULL);
}

/* The second phase looks at where tensors lie. */
CASE(tensors_stay_in_their_memory)
{
    float host[4] = {0}, *pinned = NULL;
    char *data = device_memory(16);
    EXPECT(run(vector_of(ACL_FLOAT, data, 4)), ACLNN_SUCCESS);
    EXPECT(run(vector_of(ACL_FLOAT, data, 5)), ACLNN_ERR_PARAM_INVALID);
    EXPECT(run(vector_of(ACL_FLOAT, data + 8, 3)), ACLNN_ERR_PARAM_INVALID);
    EXPECT(run(vector_of(ACL_FLOAT, data + 2, 1)), ACLNN_ERR_PARAM_INVALID);
    EXPECT(run(vector_of(ACL_FLOAT, host, 4)), ACLNN_ERR_PARAM_INVALID);
    EXPECT(run(vector_of(ACL_FLOAT, NULL, 4)), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(run(vector_of(ACL_FLOAT, NULL, 0)), ACLNN_SUCCESS);
    OK(aclrtMallocHost((void **)&pinned, 16));
    EXPECT(run(vector_of(ACL_FLOAT, pinned, 4)), ACLNN_SUCCESS);

    /* An offset and strides count, the storage does not. */
    int64_t two = 2, three = 3, none = 0;
    aclTensor *every_third =
        aclCreateTensor(&two, 1, ACL_FLOAT, &three, 1, ACL_FORMAT_ND, &none, 1, data);
    EXPECT(run(every_third), ACLNN_ERR_PARAM_INVALID);
    every_third = aclCreateTensor(&two, 1, ACL_FLOAT, &three, 0, ACL_FORMAT_ND, &none, 1, data);
    OK(aclrtSynchronizeStream(NULL));
    OK(aclrtMemset(data, 16, 0, 16));
    EXPECT(run(every_third), ACLNN_SUCCESS);
    OK(aclrtSynchronizeStream(NULL));
    download(host, data, 16);
    TRUE(host[0] == 1 && host[1] == 0 && host[2] == 0 && host[3] == 1);
    TRUE(pinned[0] == 1 && pinned[3] == 1);
}

static aclTensor *x, *out;
static uint64_t size;

static aclOpExecutor *made_product(void)
{
    aclOpExecutor *executor = NULL;
    OK(aclnnMmGetWorkspaceSize(x, x, out, 0, &size, &executor));
    return executor;
}

/* 16-bit products are summed in 32 bits, which takes room; what the program gives is checked. */
CASE(the_workspace_has_to_be_large_enough)
{
    enum { N = 16 };
    aclFloat16 host[N * N];
    for (int i = 0; i < N * N; i++) {
        host[i] = aclFloatToFloat16((float)(i % 5));
    }
    void *data = uploaded(host, sizeof host), *result = device_memory(sizeof host);
    x = matrix_of(ACL_FLOAT16, data, N, N);
    out = matrix_of(ACL_FLOAT16, result, N, N);
    aclOpExecutor *executor = made_product();
    TRUE(size >= 3 * N * N * sizeof(float));
    char *workspace = device_memory(size + 64);
    EXPECT(aclnnMm(workspace, size - 1, executor, NULL), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnMm(workspace, 0, made_product(), NULL), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnMm(NULL, size, made_product(), NULL), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclnnMm(workspace + 1, size, made_product(), NULL), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnMm(workspace + 128, size, made_product(), NULL), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnMm(host, size, made_product(), NULL), ACLNN_ERR_PARAM_INVALID);
    OK(aclrtMemset(workspace, size + 64, 0x5a, size + 64));
    OK(aclnnMm(workspace, size, made_product(), NULL));
    OK(aclrtSynchronizeStream(NULL));
    aclFloat16 got[N * N];
    download(got, result, sizeof got);
    for (int row = 0; row < N; row++) {
        for (int column = 0; column < N; column++) {
            float sum = 0;
            for (int i = 0; i < N; i++) {
                sum += (float)((row * N + i) % 5 * ((i * N + column) % 5));
            }
            if (aclFloat16ToFloat(got[row * N + column]) != sum) {
                EXPECT(row * N + column, -1);
            }
        }
    }
    /* Nothing is written behind the workspace. */
    unsigned char behind[64];
    download(behind, workspace + size, 64);
    TRUE(behind[0] == 0x5a && behind[63] == 0x5a);

    aclTensor *wide = matrix_of(ACL_FLOAT, workspace, 4, 4);
    OK(aclnnMmGetWorkspaceSize(wide, wide, wide, 0, &size, &executor));
    EXPECT(size, 0);
    OK(aclDestroyAclOpExecutor(executor));
    OK(aclnnSoftmaxGetWorkspaceSize(x, 0, out, &size, &executor));
    TRUE(size >= N * sizeof(float));
    EXPECT(aclnnSoftmax(NULL, 0, executor, NULL), ACLNN_ERR_PARAM_INVALID);
}

/* The first phase tells NULL from what is wrong, and hands out nothing then. */
CASE(wrong_arguments_have_documented_codes)
{
    uint64_t size = 77;
    aclOpExecutor *executor = (aclOpExecutor *)&size;
    char *data = device_memory(4096);
    aclTensor *x = matrix_of(ACL_FLOAT, data, 2, 3);
    aclTensor *y = matrix_of(ACL_FLOAT, data, 3, 2);
    aclTensor *whole = matrix_of(ACL_INT32, data, 2, 3);
    aclTensor *bytes = matrix_of(ACL_UINT16, data, 2, 3);
    aclTensor *square = matrix_of(ACL_FLOAT, data, 2, 2);
    aclScalar *one = scalar_of(1);
    int64_t shape[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, negative[2] = {2, -1};
    aclTensor *deep = tensor_of(ACL_FLOAT, data, 9, shape);
    aclTensor *fractal = aclCreateTensor(shape, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_FRACTAL_NZ,
                                         shape, 2, data);
    TRUE(deep != NULL && bytes != NULL && fractal != NULL);

    EXPECT(aclnnAddGetWorkspaceSize(NULL, x, one, x, &size, &executor), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclnnAddGetWorkspaceSize(x, NULL, one, x, &size, &executor), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclnnAddGetWorkspaceSize(x, x, NULL, x, &size, &executor), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclnnAddGetWorkspaceSize(x, x, one, NULL, &size, &executor), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclnnAddGetWorkspaceSize(x, x, one, x, NULL, &executor), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclnnAddGetWorkspaceSize(x, x, one, x, &size, NULL), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclnnAddGetWorkspaceSize(x, y, one, x, &size, &executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnAddGetWorkspaceSize(x, x, one, y, &size, &executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnAddGetWorkspaceSize(x, whole, one, whole, &size, &executor),
           ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnAddGetWorkspaceSize(bytes, x, one, x, &size, &executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnAddGetWorkspaceSize(deep, x, one, x, &size, &executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnAddGetWorkspaceSize(fractal, x, one, x, &size, &executor),
           ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnAddGetWorkspaceSize((aclTensor *)one, x, one, x, &size, &executor),
           ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnCastGetWorkspaceSize(x, ACL_FLOAT16, whole, &size, &executor),
           ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnSoftmaxGetWorkspaceSize(x, 2, x, &size, &executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnSoftmaxGetWorkspaceSize(whole, 0, whole, &size, &executor),
           ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnMmGetWorkspaceSize(x, x, square, 0, &size, &executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnMmGetWorkspaceSize(x, y, square, 9, &size, &executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnMatmulGetWorkspaceSize(x, y, x, 0, &size, &executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT(size, 77);
    TRUE(executor == (aclOpExecutor *)&size);

    /* The message says why. */
    aclGetRecentErrMsg();
    EXPECT(aclnnAddGetWorkspaceSize(bytes, x, one, x, &size, &executor), ACLNN_ERR_PARAM_INVALID);
    const char *message = aclGetRecentErrMsg();
    TRUE(message && strstr(message, "aclnnAddGetWorkspaceSize") && strstr(message, "161002"));

    /* A tensor cannot be described by negative numbers or missing arrays. */
    TRUE(aclCreateTensor(negative, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, shape, 2, data) == NULL);
    TRUE(aclCreateTensor(shape, 2, ACL_FLOAT, negative, 0, ACL_FORMAT_ND, shape, 2, data) == NULL);
    TRUE(aclCreateTensor(shape, 2, ACL_FLOAT, NULL, -1, ACL_FORMAT_ND, shape, 2, data) == NULL);
    TRUE(aclCreateTensor(NULL, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, shape, 2, data) == NULL);
    TRUE(aclCreateTensor(shape, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, NULL, 2, data) == NULL);
    TRUE(aclCreateScalar(NULL, ACL_FLOAT) == NULL);
    TRUE(aclCreateScalar(shape, ACL_STRING) == NULL);
}
