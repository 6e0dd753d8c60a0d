/* Stands for libhccl.so: a collective is made of tasks of the layer below, on the caller's stream and on one of its
 * own, and notes the number of each task that it has submitted. */
#include "program.h"
#include "below.h"

int32_t HcclBarrier(void *communicator, void *stream);

int32_t HcclBarrier(void *communicator, void *stream)
{
    static void *own;
    uint32_t task[2], on[2];
    int32_t id[2];

    (void)communicator;
    if (own == NULL) {
        DO(rtStreamCreateWithFlags(&own, 0, 0));
    }
    DO(rtKernelLaunch(&own, 1, task, 8, NULL, stream));
    DO(rtGetTaskIdAndStreamID(&task[0], &on[0]));
    DO(rtKernelLaunch(&own, 1, task, 8, NULL, stream));
    DO(rtGetTaskIdAndStreamID(&task[1], &on[1]));
    DO(rtGetStreamId(stream, &id[0]));
    require(on[0] == (uint32_t)id[0] && on[1] == on[0], "the tasks are on the caller's stream");
    require(task[1] == task[0] + 1, "one comes after the other");
    DO(rtKernelLaunch(&own, 1, task, 8, NULL, own));
    DO(rtGetTaskIdAndStreamID(&task[1], &on[1]));
    DO(rtGetStreamId(own, &id[1]));
    require(on[1] == (uint32_t)id[1], "the last task is on the library's stream");
    return 0;
}
