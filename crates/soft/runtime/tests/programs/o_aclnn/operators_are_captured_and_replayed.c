/* Both phases may be called while a stream captures; every replay computes with what memory holds
 * then. Two streams are joined by plain events, as the vendor's sample does. */
#include "../operators.h"
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_mm.h>
#include <aclnnop/aclnn_mul.h>

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

int main(void)
{
    float *host, fixed[4] = {1, 2, 3, 4};
    uint64_t size = 0, room = 0;
    aclOpExecutor *add, *mm, *none;
    aclrtStream first, second;
    aclrtEvent fork, join;
    aclmdlRI model = NULL;
    start();
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
    return finish();
}
