/* What the programs about collectives share. */
#ifndef HCCL_H
#define HCCL_H

#include "check.h"
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void *HcclComm;
typedef struct { char bytes[4108]; } HcclRootInfo;
typedef struct { int32_t kind; void *buffer; uint64_t count; int32_t type; uint32_t peer; } HcclSendRecvItem;
enum { INT8, INT16, INT32, FP16, FP32, INT64, UINT64, UINT8, UINT16, UINT32, FP64, BF16 };
enum { SUM, PROD, MAX, MIN };

int HcclGetRootInfo(HcclRootInfo *);
int HcclCommInitRootInfo(uint32_t, const HcclRootInfo *, uint32_t, HcclComm *);
int HcclCommInitAll(uint32_t, int32_t *, HcclComm *);
int HcclCreateSubCommConfig(HcclComm *, uint32_t, uint32_t *, uint64_t, uint32_t, void *, HcclComm *);
int HcclCommDestroy(HcclComm);
int HcclGetRankId(HcclComm, uint32_t *);
int HcclGetRankSize(HcclComm, uint32_t *);
int HcclGetCommName(HcclComm, char *);
int HcclGetCommAsyncError(HcclComm, int *);
int HcclAllReduce(void *, void *, uint64_t, int, int, HcclComm, aclrtStream);
int HcclReduce(void *, void *, uint64_t, int, int, uint32_t, HcclComm, aclrtStream);
int HcclBroadcast(void *, uint64_t, int, uint32_t, HcclComm, aclrtStream);
int HcclScatter(void *, void *, uint64_t, int, uint32_t, HcclComm, aclrtStream);
int HcclAllGather(void *, void *, uint64_t, int, HcclComm, aclrtStream);
int HcclAllGatherV(void *, uint64_t, void *, const void *, const void *, int, HcclComm, aclrtStream);
int HcclReduceScatter(void *, void *, uint64_t, int, int, HcclComm, aclrtStream);
int HcclReduceScatterV(void *, const void *, const void *, void *, uint64_t, int, int, HcclComm, aclrtStream);
int HcclAlltoAll(const void *, uint64_t, int, const void *, uint64_t, int, HcclComm, aclrtStream);
int HcclAlltoAllV(const void *, const void *, const void *, int, const void *, const void *, const void *, int,
                  HcclComm, aclrtStream);
int HcclAlltoAllVC(const void *, const void *, int, const void *, int, HcclComm, aclrtStream);
int HcclBarrier(HcclComm, aclrtStream);
int HcclSend(void *, uint64_t, int, uint32_t, HcclComm, aclrtStream);
int HcclRecv(void *, uint64_t, int, uint32_t, HcclComm, aclrtStream);
int HcclBatchSendRecv(HcclSendRecvItem *, uint32_t, HcclComm, aclrtStream);
int HcclGroupStart(void);
int HcclGroupEnd(void);

/* What the processes of a program share. */
struct shared { volatile int ready; HcclRootInfo info; };

static struct shared *shared;

/* Runs a function in some processes, each a rank with a communicator. Answers how many of them failed. */
static inline int in_processes(int ranks, int (*run)(int rank, int ranks, HcclComm comm))
{
    int failed = 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int rank = 0; rank < ranks; rank++) {
        if (fork() == 0) {
            HcclComm comm;
            OK(aclInit(NULL));
            OK(aclrtSetDevice(rank));
            if (rank == 0) {
                HcclRootInfo info;
                OK(HcclGetRootInfo(&info));
                shared->info = info;
                __sync_synchronize();
                shared->ready = 1;
            }
            while (!shared->ready) {
                sleep_ms(1);
            }
            OK(HcclCommInitRootInfo((uint32_t)ranks, &shared->info, (uint32_t)rank, &comm));
            _exit(run(rank, ranks, comm) || failures ? 1 : 0);
        }
    }
    for (int rank = 0; rank < ranks; rank++) {
        int status = 0;
        wait(&status);
        failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    return failed;
}

static inline int32_t *numbers(int count)
{
    void *memory = NULL;
    OK(aclrtMalloc(&memory, (size_t)count * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    return memory;
}

/* Memory of the device is the host's as well here. */
static inline void fill(int32_t *to, int count, int first, int step)
{
    for (int i = 0; i < count; i++) {
        to[i] = first + i * step;
    }
}

#endif
