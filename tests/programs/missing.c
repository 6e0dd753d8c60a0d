/* Calls what no library has, though one had it when this was linked. */
#include "program.h"

int32_t rtKernelLaunch(const void *stub, uint32_t blocks, void *args, uint32_t size, void *memory,
                       aclrtStream stream);

int main(void)
{
    printf("before\n");
    fflush(stdout);
    rtKernelLaunch(NULL, 1, NULL, 0, NULL, NULL);
    printf("after\n");
    return 0;
}
