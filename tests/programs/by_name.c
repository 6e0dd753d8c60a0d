/* Calls an operator by name: one that nobody has, twice. */
#include "program.h"
#include "acl/acl_op_compiler.h"

int main(void)
{
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    for (int time = 0; time < 2; time++) {
        aclError code = aclopCompileAndExecute("Nonesuch", 0, NULL, NULL, 0, NULL, NULL, NULL,
                                               ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, NULL);
        printf("%d\n", code);
    }
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
