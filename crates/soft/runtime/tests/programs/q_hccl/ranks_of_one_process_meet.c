/* Two devices of one process, a stream each; the collective ends for both when the later one has come. */
#include "../hccl.h"

int main(void)
{
    int32_t devices[2] = {0, 1};
    HcclComm comms[2];
    aclrtStream streams[2];
    int32_t *in[2], *out[2];
    start();
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
    return finish();
}
