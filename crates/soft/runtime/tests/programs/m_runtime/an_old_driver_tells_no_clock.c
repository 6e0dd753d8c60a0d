/* A driver may not tell clocks: programs must do without.
   SOFTACL: driver=unsupported */
#include "../check.h"

int halGetDeviceInfo(uint32_t id, int32_t module, int32_t info, int64_t *value);

int main(void)
{
    int64_t value = 5;
    start();
    EXPECT(halGetDeviceInfo(0, 0, 13, &value), 65534);
    EXPECT(halGetDeviceInfo(0, 0, 25, &value), 65534);
    EXPECT(value, 5);
    EXPECT(halGetDeviceInfo(9, 0, 13, &value), 2);
    return finish();
}
