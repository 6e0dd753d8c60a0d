/* A rank of a training job: RANK FILE STEPS LATE RANKS. Rank 0 writes the communicator's root information to the file.
 * Each step has a range with its name. It copies an input, computes, reduces on a second stream while the first one
 * computes, and exchanges a message with the other rank of the pair. The late rank starts its collective some
 * milliseconds after the others. `all` is each RANK, as a separate process.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "kernels.h"

#include "hccl/hccl.h"

#include <sys/wait.h>
#include <unistd.h>

__attribute__((weak)) uint64_t mstxRangeStartA(const char *message, aclrtStream stream);
__attribute__((weak)) void mstxRangeEnd(uint64_t id);

enum { COUNT = 1 << 16, BYTES = COUNT * 4, LATE_US = 3000, LONG_ENOUGH = 60000, ELEMENTS = 1 << 18 };

/* The objects of a rank. */
typedef struct Job {
    int rank, late;
    int32_t device;
    HcclComm comm;
    aclrtStream compute, communicate;
    aclrtEvent ready;
    void *from, *to, *host;
    aclOpExecutor *kernel;
} Job;

static void hand_out(const char *name, const HcclRootInfo *root)
{
    char other[4096];
    FILE *file;

    snprintf(other, sizeof other, "%s.new", name);
    file = fopen(other, "wb");
    require(file != NULL, "a file can be made");
    require(fwrite(root, sizeof *root, 1, file) == 1, "it takes all");
    fclose(file);
    require(rename(other, name) == 0, "it gets its name");
}

static void await(const char *name, HcclRootInfo *root)
{
    for (int turn = 0; turn < LONG_ENOUGH; turn++) {
        FILE *file = fopen(name, "rb");

        if (file != NULL) {
            require(fread(root, sizeof *root, 1, file) == 1, "all is there");
            fclose(file);
            return;
        }
        usleep(1000);
    }
    require(0, "rank 0 begins");
}

/* Starts this program for each rank, and waits for all. */
static int start_all(char **words, int ranks)
{
    int failed = 0;

    for (int rank = 0; rank < ranks; rank++) {
        char own[16];

        snprintf(own, sizeof own, "%d", rank);
        if (fork() == 0) {
            setenv("RANK", own, 1);
            words[1] = own;
            execv(words[0], words);
            _exit(127);
        }
    }
    for (int rank = 0; rank < ranks; rank++) {
        int status = 0;

        require(wait(&status) > 0, "a rank ends");
        failed |= status;
    }
    return failed != 0;
}

static void message(const Job *job)
{
    uint32_t other = (uint32_t)job->rank ^ 1;

    if (job->rank % 2 == 0) {
        require(HcclSend(job->from, COUNT, HCCL_DATA_TYPE_FP32, other, job->comm, job->communicate) == 0, "a message");
    } else {
        require(HcclRecv(job->to, COUNT, HCCL_DATA_TYPE_FP32, other, job->comm, job->communicate) == 0, "a message");
    }
}

static void step(const Job *job)
{
    DO(aclrtMemcpyAsync(job->from, BYTES, job->host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, job->compute));
    launch(job->kernel, job->compute);
    DO(aclrtRecordEvent(job->ready, job->compute));
    DO(aclrtStreamWaitEvent(job->communicate, job->ready));
    if (job->rank == job->late) {
        usleep(LATE_US);
    }
    require(HcclAllReduce(job->from, job->to, COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, job->comm, job->communicate) == 0,
            "a collective");
    launch(job->kernel, job->compute);
    message(job);
    DO(aclrtSynchronizeStream(job->communicate));
    DO(aclrtSynchronizeStream(job->compute));
}

static void make(Job *job, const char *file, uint32_t ranks)
{
    HcclRootInfo root;
    uint32_t devices;

    DO(aclInit(NULL));
    DO(aclrtGetDeviceCount(&devices));
    job->device = job->rank % (int32_t)devices;
    DO(aclrtSetDevice(job->device));
    DO(aclrtCreateStream(&job->compute));
    DO(aclrtCreateStream(&job->communicate));
    DO(aclrtCreateEvent(&job->ready));
    DO(aclrtMalloc(&job->from, ELEMENTS * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMalloc(&job->to, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMallocHost(&job->host, BYTES));
    job->kernel = kernel_of(job->from, ELEMENTS);
    if (job->rank == 0) {
        require(HcclGetRootInfo(&root) == 0, "the root information");
        hand_out(file, &root);
    } else {
        await(file, &root);
    }
    require(HcclCommInitRootInfo(ranks, &root, (uint32_t)job->rank, &job->comm) == 0, "a communicator");
}

int main(int count, char **words)
{
    require(count == 6, "five words");
    int steps = atoi(words[3]), ranks = atoi(words[5]);
    Job job = {0};

    if (strcmp(words[1], "all") == 0) {
        return start_all(words, ranks);
    }
    job.rank = atoi(words[1]);
    job.late = atoi(words[4]);
    make(&job, words[2], (uint32_t)ranks);
    for (int i = 0; i < steps; i++) {
        char name[32];

        snprintf(name, sizeof name, "step %d", i);
        uint64_t range = mstxRangeStartA != NULL ? mstxRangeStartA(name, NULL) : 0;
        step(&job);
        if (mstxRangeEnd != NULL) {
            mstxRangeEnd(range);
        }
    }
    DO(aclDestroyAclOpExecutor(job.kernel));
    require(HcclCommDestroy(job.comm) == 0, "no communicator");
    DO(aclrtFreeHost(job.host));
    DO(aclrtFree(job.to));
    DO(aclrtFree(job.from));
    DO(aclrtDestroyEvent(job.ready));
    DO(aclrtDestroyStream(job.communicate));
    DO(aclrtDestroyStream(job.compute));
    DO(aclrtResetDevice(job.device));
    DO(aclFinalize());
    return 0;
}
