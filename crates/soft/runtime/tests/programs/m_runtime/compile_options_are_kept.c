/* Options for compiling operators are kept, one value each; one of them has a value from the start. */
#include "../check.h"

enum { PRECISION_MODE = 0, JIT_COMPILE = 10, DEBUG_OPTION = 16, NONE = 17 };

size_t aclGetCompileoptSize(int option);
aclError aclGetCompileopt(int option, char *value, size_t length);
aclError aclSetCompileopt(int option, const char *value);

int main(void)
{
    char value[64];
    /* Before aclInit, as torch_npu does. */
    EXPECT(aclGetCompileoptSize(JIT_COMPILE), sizeof("disable"));
    OK(aclGetCompileopt(JIT_COMPILE, value, sizeof("disable")));
    EXPECT(strcmp(value, "disable"), 0);
    start();

    EXPECT(aclGetCompileoptSize(PRECISION_MODE), 0);
    EXPECT(aclGetCompileopt(PRECISION_MODE, value, sizeof(value)), ACL_ERROR_API_NOT_SUPPORT);
    OK(aclSetCompileopt(PRECISION_MODE, "allow_mix_precision"));
    OK(aclSetCompileopt(JIT_COMPILE, "enable"));
    EXPECT(aclGetCompileoptSize(PRECISION_MODE), sizeof("allow_mix_precision"));
    OK(aclGetCompileopt(PRECISION_MODE, value, sizeof(value)));
    EXPECT(strcmp(value, "allow_mix_precision"), 0);
    OK(aclGetCompileopt(JIT_COMPILE, value, sizeof(value)));
    EXPECT(strcmp(value, "enable"), 0);

    value[0] = 'x';
    EXPECT(aclGetCompileopt(JIT_COMPILE, value, sizeof("enable") - 1), ACL_ERROR_INVALID_PARAM);
    EXPECT(value[0], 'x');
    EXPECT(aclGetCompileopt(JIT_COMPILE, NULL, sizeof(value)), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclSetCompileopt(JIT_COMPILE, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclSetCompileopt(JIT_COMPILE, "perhaps"), ACL_ERROR_INVALID_PARAM);
    OK(aclGetCompileopt(JIT_COMPILE, value, sizeof(value)));
    EXPECT(strcmp(value, "enable"), 0);

    OK(aclSetCompileopt(DEBUG_OPTION, "oom"));
    EXPECT(aclSetCompileopt(NONE, "1"), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclSetCompileopt(-1, "1"), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclGetCompileopt(NONE, value, sizeof(value)), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclGetCompileoptSize(NONE), 0);
    return finish();
}
