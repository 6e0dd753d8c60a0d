/* A library that needs AscendCL, for programs that do not. */
#include "program.h"

int plugin_run(void);

int plugin_run(void)
{
    DO(aclInit(NULL));
    fill_on_new_stream(0, 3);
    DO(aclrtResetDevice(0));
    return (int)aclFinalize();
}
