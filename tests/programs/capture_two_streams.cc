// One operator on a second stream, captured between two copies on the first one, and replayed eight
// times: each replay adds 1.1 to every element. The copy back goes where the copy to the device
// comes from, so the results add up.
#include <acl/acl.h>
#include <aclnnop/aclnn_add.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

const int kElements = 8;
const size_t kBytes = kElements * sizeof(float);

void Must(int code, const char *what) {
    if (code != 0) {
        std::printf("%s: %d\n", what, code);
        std::exit(1);
    }
}
#define MUST(call) Must(call, #call)

// A tensor of four rows and two columns in device memory.
struct Matrix {
    void *data = nullptr;
    aclTensor *tensor = nullptr;

    Matrix() {
        const std::vector<int64_t> shape = {4, 2}, strides = {2, 1};
        MUST(aclrtMalloc(&data, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
        tensor = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, strides.data(), 0,
                                 ACL_FORMAT_ND, shape.data(), shape.size(), data);
    }

    void Release() {
        aclDestroyTensor(tensor);
        MUST(aclrtFree(data));
    }
};

}  // namespace

int main() {
    MUST(aclInit(nullptr));
    MUST(aclrtSetDevice(0));
    Matrix self, other, sum;
    float factor = 1.1f;
    aclScalar *alpha = aclCreateScalar(&factor, ACL_FLOAT);
    uint64_t need = 0;
    aclOpExecutor *executor = nullptr;
    MUST(aclnnAddGetWorkspaceSize(self.tensor, other.tensor, alpha, sum.tensor, &need, &executor));
    void *workspace = nullptr;
    if (need > 0) {
        MUST(aclrtMalloc(&workspace, need, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    float *values = nullptr, *ones = nullptr;
    MUST(aclrtMallocHost(reinterpret_cast<void **>(&values), kBytes));
    MUST(aclrtMallocHost(reinterpret_cast<void **>(&ones), kBytes));
    for (int i = 0; i < kElements; i++) {
        values[i] = 0;
        ones[i] = 1;
    }
    aclrtStream main_stream, side_stream;
    aclrtEvent fork, join;
    MUST(aclrtCreateStream(&main_stream));
    MUST(aclrtCreateStream(&side_stream));
    MUST(aclrtCreateEventExWithFlag(&fork, ACL_EVENT_SYNC));
    MUST(aclrtCreateEventExWithFlag(&join, ACL_EVENT_SYNC));

    MUST(aclmdlRICaptureBegin(main_stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    MUST(aclrtMemcpyAsync(self.data, kBytes, values, kBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                          main_stream));
    // What is copied at once is no part of the graph; the mode must allow it.
    aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
    MUST(aclmdlRICaptureThreadExchangeMode(&mode));
    MUST(aclrtMemcpy(other.data, kBytes, ones, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
    MUST(aclmdlRICaptureThreadExchangeMode(&mode));
    MUST(aclrtRecordEvent(fork, main_stream));
    MUST(aclrtStreamWaitEvent(side_stream, fork));
    MUST(aclnnAdd(workspace, need, executor, side_stream));
    MUST(aclrtRecordEvent(join, side_stream));
    MUST(aclrtStreamWaitEvent(main_stream, join));
    MUST(aclrtMemcpyAsync(values, kBytes, sum.data, kBytes, ACL_MEMCPY_DEVICE_TO_HOST,
                          main_stream));
    aclmdlRI graph;
    MUST(aclmdlRICaptureEnd(main_stream, &graph));

    for (int replay = 0; replay < 8; replay++) {
        MUST(aclmdlRIExecuteAsync(graph, main_stream));
        MUST(aclrtSynchronizeStream(main_stream));
        for (int i = 0; i < kElements; i++) {
            std::printf("%.1f%c", values[i], i + 1 < kElements ? ' ' : '\n');
        }
    }

    MUST(aclmdlRIDestroy(graph));
    MUST(aclrtDestroyStream(main_stream));
    MUST(aclrtDestroyStream(side_stream));
    MUST(aclrtDestroyEvent(fork));
    MUST(aclrtDestroyEvent(join));
    self.Release();
    other.Release();
    sum.Release();
    aclDestroyScalar(alpha);
    if (workspace != nullptr) {
        MUST(aclrtFree(workspace));
    }
    MUST(aclrtFreeHost(values));
    MUST(aclrtFreeHost(ones));
    MUST(aclrtResetDevice(0));
    MUST(aclFinalize());
    return 0;
}
