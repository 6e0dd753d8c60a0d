/* The part of libacl_op_compiler.so that torch_npu cannot start without, beside a runtime that does
 * not keep compile options. Everything else comes from the runtime, which this library needs. */
#include <stdint.h>
#include <stdio.h>

#define OPTIONS 32
#define SIZE 64

static char values[OPTIONS][SIZE];

size_t aclGetCompileoptSize(int32_t option);
int32_t aclGetCompileopt(int32_t option, char *value, size_t size);
int32_t aclSetCompileopt(int32_t option, const char *value);

size_t aclGetCompileoptSize(int32_t option)
{
    (void)option;
    return SIZE;
}

int32_t aclGetCompileopt(int32_t option, char *value, size_t size)
{
    if (option < 0 || option >= OPTIONS || value == NULL) {
        return 100000;
    }
    snprintf(value, size, "%s", values[option][0] != 0 ? values[option] : "disable");
    return 0;
}

int32_t aclSetCompileopt(int32_t option, const char *value)
{
    if (option < 0 || option >= OPTIONS || value == NULL) {
        return 100000;
    }
    snprintf(values[option], SIZE, "%s", value);
    return 0;
}
