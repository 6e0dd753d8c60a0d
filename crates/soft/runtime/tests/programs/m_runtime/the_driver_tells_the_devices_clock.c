/* The driver's counter is the clock of events, and its oscillator says how long a tick is.
   SOFTACL: clock_offset_ns=5000000000/-7,drift_ppm=40 */
#include "../check.h"

int halGetDeviceInfo(uint32_t id, int32_t module, int32_t info, int64_t *value);
int halGetAPIVersion(int *version);

enum { SYSTEM = 0, COUNT = 13, FREQUENCY = 25 };

int main(void)
{
    int64_t khz = 0, before = 0, after = 0, other = 0;
    aclrtStream stream;
    aclrtEvent event;
    uint64_t stamp = 0;
    int version = 0;
    EXPECT(halGetAPIVersion(&version), 0);
    TRUE(version >= 0x071905);
    start();
    EXPECT(halGetDeviceInfo(0, SYSTEM, FREQUENCY, &khz), 0);
    EXPECT(khz, 50000);
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_TIME_LINE));
    EXPECT(halGetDeviceInfo(0, SYSTEM, COUNT, &before), 0);
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtSynchronizeStream(stream));
    EXPECT(halGetDeviceInfo(0, SYSTEM, COUNT, &after), 0);
    OK(aclrtEventGetTimestamp(event, &stamp));
    /* Whole microseconds have 50 ticks. */
    TRUE((int64_t)stamp >= before / 50 && (int64_t)stamp <= after / 50);
    EXPECT(halGetDeviceInfo(1, SYSTEM, COUNT, &other), 0);
    TRUE(after - other > 4900000000ll / 20);
    EXPECT(halGetDeviceInfo(9, SYSTEM, COUNT, &other), 2);
    EXPECT(halGetDeviceInfo(0, SYSTEM, COUNT, NULL), 3);
    EXPECT(halGetDeviceInfo(0, 4, COUNT, &other), 0xfffe);
    return finish();
}
