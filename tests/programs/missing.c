/* Calls what no library has, though one had it when this was linked. */
#include "program.h"

int32_t rtFusionLaunch(void *fusion, aclrtStream stream, void *args);

int main(void)
{
    printf("before\n");
    fflush(stdout);
    rtFusionLaunch(NULL, NULL, NULL);
    printf("after\n");
    return 0;
}
