/* A stage of a pipeline: RANK FILE MICRO_BATCHES SLOW RANKS. Each micro-batch goes forward through all stages and back, and in between a
 * stage works on both directions in turn. All messages pass through HcclBatchSendRecv. The slow stage computes three times as long.
 * `all` is each RANK, as a separate process.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "ranks.h"

enum { COUNT = 1024, USUAL_BYTES = 300000, SLOW_BYTES = 900000, MESSAGES = 2 };

static int rank, ranks, slow;
static HcclComm comm;
static aclrtStream stream;
static void *from, *to, *work;

static HcclSendRecvItem message(HcclSendRecvType type, int other)
{
    void *buffer = type == HCCL_SEND ? from : to;
    return (HcclSendRecvItem){type, buffer, COUNT, HCCL_DATA_TYPE_FP32, (uint32_t)other};
}

/* Sends and receives in one call. A direction of 1 is forward, of -1 back, and of 0 none. */
static void pass(int sends, int receives)
{
    HcclSendRecvItem items[MESSAGES];
    uint32_t count = 0;

    if (sends != 0 && rank + sends >= 0 && rank + sends < ranks) {
        items[count++] = message(HCCL_SEND, rank + sends);
    }
    if (receives != 0 && rank - receives >= 0 && rank - receives < ranks) {
        items[count++] = message(HCCL_RECV, rank - receives);
    }
    if (count > 0) {
        require(HcclBatchSendRecv(items, count, comm, stream) == 0, "messages");
    }
}

static void compute(void)
{
    size_t bytes = rank == slow ? SLOW_BYTES : USUAL_BYTES;
    DO(aclrtMemsetAsync(work, SLOW_BYTES, 1, bytes, stream));
}

static void run(int micro_batches)
{
    int ahead = ranks - 1 - rank;
    if (ahead > micro_batches) {
        ahead = micro_batches;
    }
    for (int i = 0; i < ahead; i++) {
        pass(0, 1);
        compute();
        pass(1, 0);
    }
    int rest = micro_batches - ahead;
    if (rest > 0) {
        pass(0, 1);
    }
    for (int i = 0; i < rest; i++) {
        compute();
        pass(1, -1);
        compute();
        pass(-1, i + 1 < rest ? 1 : 0);
    }
    for (int i = 0; i < ahead; i++) {
        pass(0, -1);
        compute();
        pass(-1, 0);
    }
    DO(aclrtSynchronizeStream(stream));
}

int main(int count, char **words)
{
    require(count == 6, "five words");
    ranks = atoi(words[5]);
    if (strcmp(words[1], "all") == 0) {
        return start_all(words, ranks);
    }
    rank = atoi(words[1]);
    slow = atoi(words[4]);
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&from, COUNT * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMalloc(&to, COUNT * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMalloc(&work, SLOW_BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    comm = communicator(words[2], ranks, rank);
    run(atoi(words[3]));
    puts("done");
    return 0;
}
