/* Every collective between three processes.
   SOFTACL: devices=3 */
#include "../hccl.h"

static int rank_runs(int rank, int ranks, HcclComm comm)
{
    int32_t *in = numbers(64), *out = numbers(64);
    uint32_t told = 99;
    char name[128] = "";
    OK(HcclGetRankId(comm, &told));
    EXPECT(told, rank);
    OK(HcclGetRankSize(comm, &told));
    EXPECT(told, ranks);
    OK(HcclGetCommName(comm, name));
    TRUE(strlen(name) > 0);

    fill(in, 4, rank + 1, 10);
    OK(HcclAllReduce(in, out, 4, INT32, SUM, comm, NULL));
    OK(aclrtSynchronizeStream(NULL));
    EXPECT(out[0], 6);
    EXPECT(out[3], 96);
    OK(HcclAllReduce(in, in, 4, INT32, MAX, comm, NULL));
    OK(aclrtSynchronizeStream(NULL));
    EXPECT(in[3], 33);

    fill(in, 4, rank + 1, 0);
    out[0] = -1;
    OK(HcclReduce(in, out, 4, INT32, PROD, 1, comm, NULL));
    OK(aclrtSynchronizeStream(NULL));
    EXPECT(out[0], rank == 1 ? 6 : -1);
    fill(in, 4, 7 * rank, 1);
    OK(HcclBroadcast(in, 4, INT32, 2, comm, NULL));
    OK(aclrtSynchronizeStream(NULL));
    EXPECT(in[1], 15);

    fill(in, 6, 100 * rank, 1);
    OK(HcclScatter(in, out, 2, INT32, 1, comm, NULL));
    OK(aclrtSynchronizeStream(NULL));
    EXPECT(out[1], 101 + 2 * rank);
    OK(HcclAllGather(in, out, 2, INT32, comm, NULL));
    OK(aclrtSynchronizeStream(NULL));
    EXPECT(out[1], 1);
    EXPECT(out[5], 201);
    OK(HcclReduceScatter(in, out, 2, INT32, SUM, comm, NULL));
    OK(aclrtSynchronizeStream(NULL));
    EXPECT(out[0], 300 + 6 * rank);
    OK(HcclAlltoAll(in, 2, INT32, out, 2, INT32, comm, NULL));
    OK(aclrtSynchronizeStream(NULL));
    EXPECT(out[2], 100 + 2 * rank);
    EXPECT(out[5], 201 + 2 * rank);

    /* Rank r sends r + 1 elements to each, which lie four apart. */
    uint64_t counts[3], places[3] = {0, 4, 8}, received[3] = {1, 2, 3}, at[3] = {9, 5, 0};
    for (int i = 0; i < 3; i++) {
        counts[i] = (uint64_t)rank + 1;
    }
    fill(in, 12, 1000 * rank, 1);
    OK(HcclAlltoAllV(in, counts, places, INT32, out, received, at, INT32, comm, NULL));
    OK(aclrtSynchronizeStream(NULL));
    EXPECT(out[9], 4 * rank);
    EXPECT(out[6], 1000 + 4 * rank + 1);
    EXPECT(out[2], 2000 + 4 * rank + 2);
    uint64_t matrix[9] = {1, 0, 2, 0, 3, 1, 1, 1, 0};
    OK(HcclAlltoAllVC(in, matrix, INT32, out, INT32, comm, NULL));
    OK(aclrtSynchronizeStream(NULL));
    EXPECT(out[0], rank == 0 ? 0 : rank == 1 ? 1000 : 1);
    EXPECT(out[1], rank == 0 ? 2000 : rank == 1 ? 1001 : 2);
    OK(HcclAllGatherV(in, (uint64_t)rank + 1, out, received, at, INT32, comm, NULL));
    OK(aclrtSynchronizeStream(NULL));
    EXPECT(out[9], 0);
    EXPECT(out[2], 2002);
    uint64_t each[3] = {1, 2, 3}, begins[3] = {0, 1, 3};
    OK(HcclReduceScatterV(in, each, begins, out, (uint64_t)rank + 1, INT32, MIN, comm, NULL));
    OK(aclrtSynchronizeStream(NULL));
    EXPECT(out[rank], rank == 0 ? 0 : rank == 1 ? 2 : 5);
    OK(HcclBarrier(comm, NULL));
    OK(aclrtSynchronizeStream(NULL));

    /* Messages around the ring: both are under way at once. */
    uint32_t next = (uint32_t)((rank + 1) % ranks), before = (uint32_t)((rank + ranks - 1) % ranks);
    HcclSendRecvItem items[2] = {{0, in, 3, INT32, next}, {1, out, 3, INT32, before}};
    for (int round = 0; round < 5; round++) {
        fill(in, 3, 10 * rank + round, 1);
        OK(HcclBatchSendRecv(items, 2, comm, NULL));
        OK(aclrtSynchronizeStream(NULL));
        EXPECT(out[2], 10 * (int)before + round + 2);
    }
    OK(HcclGroupStart());
    OK(HcclSend(in, 1, INT32, next, comm, NULL));
    OK(HcclRecv(out + 1, 1, INT32, before, comm, NULL));
    OK(HcclGroupEnd());
    OK(aclrtSynchronizeStream(NULL));
    EXPECT(out[1], 10 * (int)before + 4);

    /* A group of the last two ranks; the first is told that it belongs to none. */
    uint32_t members[2] = {1, 2};
    HcclComm sub = comm;
    OK(HcclCreateSubCommConfig(&comm, 2, rank ? members : NULL, 5, (uint32_t)rank - 1, NULL, &sub));
    TRUE((sub == NULL) == (rank == 0));
    if (rank) {
        in[0] = rank;
        OK(HcclAllReduce(in, out, 1, INT32, SUM, sub, NULL));
        OK(aclrtSynchronizeStream(NULL));
        EXPECT(out[0], 3);
        OK(HcclCommDestroy(sub));
    }
    OK(HcclBarrier(comm, NULL));
    OK(aclrtSynchronizeStream(NULL));
    OK(HcclCommDestroy(comm));
    EXPECT(HcclBarrier(comm, NULL), 1);
    OK(aclFinalize());
    return 0;
}

int main(void)
{
    EXPECT(in_processes(3, rank_runs), 0);
    return finish();
}
