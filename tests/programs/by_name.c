/* Calls an operator by name: one that nobody has, twice. */
#include "program.h"

/* As in acl/acl_op_compiler.h. */
aclError aclopCompileAndExecute(const char *name, int inputs, const void *const input_descs[],
                                const void *const input_buffers[], int outputs,
                                const void *const output_descs[], void *const output_buffers[],
                                const void *attributes, int engine, int flag, const char *path,
                                aclrtStream stream);

int main(void)
{
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    for (int time = 0; time < 2; time++) {
        aclError code = aclopCompileAndExecute("Nonesuch", 0, NULL, NULL, 0, NULL, NULL, NULL,
                                               0, 0, NULL, NULL);
        printf("%d\n", code);
    }
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
