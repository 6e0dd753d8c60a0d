/* Calls operators in turn, one for each letter of WORD: r calls one of `aclnn`; n calls one by its name. b and j let the graph
 * engine take a binary for any shape where it has one, and compile for the shapes of each call; f and d let it compile for any
 * shape, and no longer.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "kernels.h"

/* As in acl/acl_op_compiler.h and acl/acl_base.h. */
typedef struct aclTensorDesc aclTensorDesc;
typedef struct aclDataBuffer aclDataBuffer;

enum { JIT_COMPILE = 10, DEFAULT = 0, FUZZ = 1, COUNT = 1 << 10, BYTES = COUNT * 4 };

aclError aclSetCompileopt(int option, const char *value);
aclError aclopSetCompileFlag(int flag);
aclError aclopCompileAndExecute(const char *name, int inputs, const aclTensorDesc *const input_descs[],
                                const aclDataBuffer *const input_buffers[], int outputs,
                                const aclTensorDesc *const output_descs[], aclDataBuffer *const output_buffers[],
                                const void *attributes, int engine, int flag, const char *path, aclrtStream stream);
aclTensorDesc *aclCreateTensorDesc(aclDataType type, int dimensions, const int64_t *sizes, aclFormat format);
void aclDestroyTensorDesc(const aclTensorDesc *desc);
aclDataBuffer *aclCreateDataBuffer(void *data, size_t size);
aclError aclDestroyDataBuffer(const aclDataBuffer *buffer);

static void by_name(void *memory, aclrtStream stream)
{
    int64_t size = COUNT;
    const aclTensorDesc *desc = aclCreateTensorDesc(ACL_FLOAT, 1, &size, ACL_FORMAT_ND);
    aclDataBuffer *buffer = aclCreateDataBuffer(memory, BYTES);
    const aclDataBuffer *input = buffer;

    DO(aclopCompileAndExecute("Relu", 1, &desc, &input, 1, &desc, &buffer, NULL, 0, 0, NULL, stream));
    DO(aclDestroyDataBuffer(buffer));
    aclDestroyTensorDesc(desc);
}

int main(int count, char **words)
{
    aclrtStream stream;
    void *memory;

    require(count == 2, "a word");
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    aclOpExecutor *kernel = kernel_of(memory, COUNT);
    for (const char *letter = words[1]; *letter; letter++) {
        switch (*letter) {
        case 'r':
            launch(kernel, stream);
            break;
        case 'n':
            by_name(memory, stream);
            break;
        case 'j':
            DO(aclSetCompileopt(JIT_COMPILE, "enable"));
            break;
        case 'b':
            DO(aclSetCompileopt(JIT_COMPILE, "disable"));
            break;
        case 'f':
            DO(aclopSetCompileFlag(FUZZ));
            break;
        case 'd':
            DO(aclopSetCompileFlag(DEFAULT));
            break;
        default:
            require(0, "a letter of r, n, j, b, f and d");
        }
    }
    DO(aclrtSynchronizeStream(stream));
    DO(aclDestroyAclOpExecutor(kernel));
    DO(aclrtFree(memory));
    DO(aclrtDestroyStream(stream));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
