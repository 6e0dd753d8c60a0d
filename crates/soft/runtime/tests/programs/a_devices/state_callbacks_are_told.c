/* Registered callbacks hear of devices and streams coming and going. */
#include "../check.h"

static int states[4], created, destroyed, last_device = -1;
static aclrtStream last_stream;

static void device_state(int32_t device, aclrtDeviceState state, void *unused)
{
    (void)unused;
    last_device = device;
    states[state]++;
}

static void stream_state(aclrtStream stream, aclrtStreamState state, void *unused)
{
    (void)unused;
    last_stream = stream;
    created += state == ACL_RT_STREAM_STATE_CREATE_POST;
    destroyed += state == ACL_RT_STREAM_STATE_DESTROY_PRE;
}

int main(void)
{
    aclrtStream stream;
    OK(aclInit(NULL));
    OK(aclrtRegDeviceStateCallback("test", device_state, NULL));
    EXPECT(aclrtRegDeviceStateCallback("test", device_state, NULL), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtRegDeviceStateCallback(NULL, device_state, NULL), ACL_ERROR_INVALID_PARAM);
    OK(aclrtRegStreamStateCallback("test", stream_state, NULL));
    OK(aclrtSetDevice(1));
    EXPECT(states[0], 1);
    EXPECT(states[1], 1);
    EXPECT(last_device, 1);
    /* The default stream, and one that the runtime keeps for itself. */
    EXPECT(created, 2);
    OK(aclrtCreateStream(&stream));
    EXPECT(created, 3);
    TRUE(last_stream == stream);
    OK(aclrtDestroyStream(stream));
    EXPECT(destroyed, 1);
    OK(aclrtResetDevice(1));
    EXPECT(states[2], 1);
    EXPECT(states[3], 1);
    EXPECT(destroyed, 3);
    OK(aclrtRegDeviceStateCallback("test", NULL, NULL));
    OK(aclrtSetDevice(1));
    EXPECT(states[0], 1);
    return finish();
}
