/* A rank of a job: RANK FILE STEPS LATE [RANKS [PAIRS]]. Rank 0 writes what all have to know to the file. Each step
 * reduces once; the late rank comes some milliseconds after the others. With PAIRS, ranks 2n and 2n+1 then send each other
 * a message. If PAIRS is `grouped`, they do so in a group. If it is `shares`, all ranks gather and scatter shares that differ, the late rank late each time, and
 * exchange data by counts in arrays.
 * `all` is each RANK, as a separate process.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "ranks.h"

enum { COUNT = 1024, LATE_US = 4000 };

static void exchange(int rank, void *from, void *to, HcclComm comm, aclrtStream stream)
{
    uint32_t other = (uint32_t)rank ^ 1;

    if (rank % 2 == 0) {
        require(HcclSend(from, COUNT, HCCL_DATA_TYPE_FP32, other, comm, stream) == 0, "a message");
        require(HcclRecv(to, COUNT, HCCL_DATA_TYPE_FP32, other, comm, stream) == 0, "an answer");
    } else {
        require(HcclRecv(to, COUNT, HCCL_DATA_TYPE_FP32, other, comm, stream) == 0, "a message");
        require(HcclSend(from, COUNT, HCCL_DATA_TYPE_FP32, other, comm, stream) == 0, "an answer");
    }
}

/* Rank n has n + 1 parts of 64 elements. */
static void share(int rank, int ranks, int late, void *from, void *to, HcclComm comm, aclrtStream stream)
{
    useconds_t rest = rank == late ? LATE_US : 0;
    enum { PARTS = 64, MOST = 8 };
    uint64_t counts[MOST] = {0}, places[MOST] = {0}, even[MOST] = {0}, apart[MOST] = {0};

    require(ranks <= MOST && PARTS * ranks * (ranks + 1) / 2 <= COUNT, "the buffers take all shares");
    for (int other = 0; other < ranks; other++) {
        counts[other] = (uint64_t)(PARTS * (other + 1));
        places[other] = (uint64_t)(PARTS * other * (other + 1) / 2);
        even[other] = PARTS;
        apart[other] = (uint64_t)(PARTS * other);
    }
    usleep(rest);
    require(HcclAllGatherV(from, counts[rank], to, counts, places, HCCL_DATA_TYPE_FP32, comm, stream) == 0, "shares are gathered");
    usleep(rest);
    require(HcclReduceScatterV(from, counts, places, to, counts[rank], HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream) == 0, "shares are scattered");
    require(HcclAlltoAllV(from, even, apart, HCCL_DATA_TYPE_FP32, to, even, apart, HCCL_DATA_TYPE_FP32, comm, stream) == 0, "data are exchanged");
}

int main(int count, char **words)
{
    require(count >= 5, "four words or more");
    int ranks = count > 5 ? atoi(words[5]) : 2;
    if (strcmp(words[1], "all") == 0) {
        return start_all(words, ranks);
    }
    int rank = atoi(words[1]), steps = atoi(words[3]), late = atoi(words[4]);
    HcclComm comm;
    aclrtStream stream;
    void *from, *to;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&from, COUNT * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMalloc(&to, COUNT * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
    comm = communicator(words[2], ranks, rank);
    for (int step = 0; step < steps; step++) {
        DO(aclrtMemsetAsync(from, COUNT * sizeof(float), 0, COUNT * sizeof(float), stream));
        if (rank == late) {
            usleep(LATE_US);
        }
        require(HcclAllReduce(from, to, COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream) == 0, "a collective");
        if (count > 6 && strcmp(words[6], "shares") == 0) {
            share(rank, ranks, late, from, to, comm, stream);
        } else if (count > 6) {
            int is_grouped = strcmp(words[6], "grouped") == 0;
            require(!is_grouped || HcclGroupStart() == 0, "a group begins");
            exchange(rank, from, to, comm, stream);
            require(!is_grouped || HcclGroupEnd() == 0, "a group ends");
        }
        DO(aclrtSynchronizeStream(stream));
    }
    puts("done");
    return 0;
}
