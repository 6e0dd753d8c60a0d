/* One of three ranks dies, later one does not come: the others get an error and go on.
   SOFTACL: devices=3 */
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

int main(void)
{
    EXPECT(in_processes(3, dies), 1);
    setenv("HCCL_EXEC_TIMEOUT", "1", 1);
    EXPECT(in_processes(2, stays_away), 0);
    EXPECT(in_processes(2, differs), 0);
    return finish();
}
