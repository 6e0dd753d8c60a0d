#include "../cases.h"
#include "../hccl.h"
#include <signal.h>

static int dies(int rank, int ranks, HcclComm comm)
{
    int32_t *data = numbers(1);
    HcclResult error = 0;
    (void)ranks;
    data[0] = 1;
    OK(HcclAllReduce(data, data, 1, INT32, SUM, comm, NULL));
    OK(aclrtSynchronizeStream(NULL));
    if (rank == 1) {
        raise(SIGKILL);
    }
    OK(HcclAllReduce(data, data, 1, INT32, SUM, comm, NULL));
    EXPECT(aclrtSynchronizeStream(NULL), 507057);
    OK(HcclGetCommAsyncError(comm, &error));
    EXPECT(error, 21);
    /* What comes later fails at once. */
    OK(HcclBarrier(comm, NULL));
    EXPECT(aclrtSynchronizeStream(NULL), 507057);
    OK(HcclCommDestroy(comm));
    return 0;
}

static int stays_away(int rank, int ranks, HcclComm comm)
{
    int32_t *data = numbers(1);
    HcclResult error = 0;
    (void)ranks;
    OK(HcclGetCommAsyncError(comm, &error));
    EXPECT(error, 0);
    if (rank == 0) {
        OK(HcclAllReduce(data, data, 1, INT32, SUM, comm, NULL));
        EXPECT(aclrtSynchronizeStream(NULL), 107020);
        OK(HcclGetCommAsyncError(comm, &error));
        EXPECT(error, 9);
    } else {
        sleep_ms(2500);
    }
    return 0;
}

static int differs(int rank, int ranks, HcclComm comm)
{
    int32_t *data = numbers(4);
    (void)ranks;
    OK(HcclAllReduce(data, data, rank == 0 ? 2 : 4, INT32, SUM, comm, NULL));
    TRUE(aclrtSynchronizeStream(NULL) != 0);
    return 0;
}

/* One of three ranks dies, later one does not come: the others get an error and go on.
   SOFTACL: devices=3 */
BARE_CASE(a_peer_that_is_gone_is_an_error)
{
    EXPECT(in_processes(3, dies), 1);
    setenv("HCCL_EXEC_TIMEOUT", "1", 1);
    EXPECT(in_processes(2, stays_away), 0);
    EXPECT(in_processes(2, differs), 0);
}

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

/* Every collective between three processes.
   SOFTACL: devices=3 */
BARE_CASE(collectives_of_processes_compute)
{
    EXPECT(in_processes(3, rank_runs), 0);
}

/* Two devices of one process, a stream each; the collective ends for both when the later one has come. */
CASE(ranks_of_one_process_meet)
{
    int32_t devices[2] = {0, 1};
    HcclComm comms[2];
    aclrtStream streams[2];
    int32_t *in[2], *out[2];
    OK(HcclCommInitAll(2, devices, comms));
    for (int rank = 0; rank < 2; rank++) {
        OK(aclrtSetDevice(rank));
        OK(aclrtCreateStream(&streams[rank]));
        in[rank] = numbers(2);
        out[rank] = numbers(2);
        fill(in[rank], 2, rank + 5, 1);
    }
    OK(aclrtSetDevice(0));
    OK(HcclAllReduce(in[0], out[0], 2, INT32, SUM, comms[0], streams[0]));
    /* It waits for the other rank. */
    EXPECT(aclrtSynchronizeStreamWithTimeout(streams[0], 30), 507046);
    OK(aclrtSetDevice(1));
    OK(HcclAllReduce(in[1], out[1], 2, INT32, SUM, comms[1], streams[1]));
    OK(aclrtSynchronizeStream(streams[1]));
    OK(aclrtSetDevice(0));
    OK(aclrtSynchronizeStream(streams[0]));
    EXPECT(out[0][1], 13);
    EXPECT(out[1][0], 11);
    /* What is not memory of the device, and ranks that do not exist, are refused. */
    int32_t own[2];
    EXPECT(HcclAllReduce(own, own, 2, INT32, SUM, comms[0], streams[0]), 1);
    EXPECT(HcclBroadcast(in[0], 2, INT32, 2, comms[0], streams[0]), 1);
    EXPECT(HcclAllReduce(in[0], out[0], 2, 99, SUM, comms[0], streams[0]), 1);
    EXPECT(HcclAllReduce(in[0], out[0], 2, INT32, 7, comms[0], streams[0]), 1);
    EXPECT(HcclBarrier(NULL, streams[0]), 2);
    OK(HcclCommDestroy(comms[0]));
    OK(HcclCommDestroy(comms[1]));
}
