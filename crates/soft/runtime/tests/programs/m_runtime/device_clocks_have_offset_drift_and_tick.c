/* Each device reads its own clock.
   SOFTACL: clock_offset_ns=1000000000/-500000000,drift_ppm=100/0,tick_ns=1000 */
#include "../check.h"

int main(void)
{
    aclrtEvent event;
    uint64_t stamp = 0;
    start();
    for (int device = 0; device < 2; device++) {
        OK(aclrtSetDevice(device));
        OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_TIME_LINE));
        uint64_t before = host_ns();
        OK(aclrtRecordEvent(event, NULL));
        OK(aclrtSynchronizeEvent(event));
        uint64_t after = host_ns();
        OK(aclrtEventGetTimestamp(event, &stamp));
        double offset = device == 0 ? 1e9 : -5e8, rate = device == 0 ? 1.0001 : 1.0;
        double least = ((double)before + offset) * rate, most = ((double)after + offset) * rate;
        TRUE((double)stamp * 1e3 >= least - 1e3 && (double)stamp * 1e3 <= most);
    }
    return finish();
}
