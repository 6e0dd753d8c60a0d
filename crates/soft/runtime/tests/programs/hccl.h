/* What the programs about collectives share. */
#ifndef TESTS_HCCL_H
#define TESTS_HCCL_H

#include "check.h"
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hccl/hccl.h"

#define INT8 HCCL_DATA_TYPE_INT8
#define INT32 HCCL_DATA_TYPE_INT32
#define FP16 HCCL_DATA_TYPE_FP16
#define FP32 HCCL_DATA_TYPE_FP32
#define INT64 HCCL_DATA_TYPE_INT64
#define UINT8 HCCL_DATA_TYPE_UINT8
#define FP64 HCCL_DATA_TYPE_FP64
#define BF16 HCCL_DATA_TYPE_BFP16
#define SUM HCCL_REDUCE_SUM
#define PROD HCCL_REDUCE_PROD
#define MAX HCCL_REDUCE_MAX
#define MIN HCCL_REDUCE_MIN

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
