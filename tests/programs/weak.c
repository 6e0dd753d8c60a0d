/* Refers weakly to what may not be there, and looks before it calls. */
#include "program.h"

int32_t rtFusionLaunch(void) __attribute__((weak));
int32_t aclrtUnheardOf(void) __attribute__((weak));
__attribute__((weak)) extern __typeof__(aclrtGetDeviceCount) aclrtGetDeviceCount;

/* Relocated in another way than code is. */
static int32_t (*volatile in_data)(void) = rtFusionLaunch;

int main(void)
{
    uint32_t count = 0;

    printf("a launch below the interface: %s\n", rtFusionLaunch ? "yes" : "no");
    printf("the same in data: %s\n", in_data ? "yes" : "no");
    printf("something unheard of: %s\n", aclrtUnheardOf ? "yes" : "no");
    printf("a device count: %s\n", aclrtGetDeviceCount ? "yes" : "no");
    DO(aclInit(NULL));
    DO(aclrtGetDeviceCount(&count));
    DO(aclFinalize());
    printf("%u devices\n", count);
    return 0;
}
