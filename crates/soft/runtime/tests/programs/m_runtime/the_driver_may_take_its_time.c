/* The counter is read at some moment of the call, which may be long.
   SOFTACL: driver_ns=200000,driver_jitter_ns=100000,tick_ns=1 */
#include "../check.h"
#include <time.h>

int halGetDeviceInfo(uint32_t id, int32_t module, int32_t info, int64_t *value);

static int64_t now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

int main(void)
{
    int late = 0;
    start();
    for (int i = 0; i < 50; i++) {
        int64_t value = 0, before = now(), after;
        EXPECT(halGetDeviceInfo(0, 0, 13, &value), 0);
        after = now();
        TRUE(before <= value && value <= after);
        TRUE(after - before >= 200000);
        late += value - before > 120000;
    }
    TRUE(late > 0);
    return finish();
}
