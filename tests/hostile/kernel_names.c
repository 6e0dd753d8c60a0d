// After questions for the names of kernels that were looked up by calls which nobody can see. A name that does not fit is
// an error, which stays in the thread that asked; and a kernel that is unloaded must not be asked about. Kernels are
// loaded, launched and unloaded at once, ROUNDS times.
//
//   kernel_names LIBRARY ROUNDS [FUNCTION]      FUNCTION of the layer below unloads, and not aclrtBinaryUnLoad
#define _GNU_SOURCE
#include <acl/acl.h>
#include "hidden.h"
#include "kernel_names.h"

enum { KERNELS = 2 };

static const char *const names[KERNELS] = {NAMED_LIKE_A_TEMPLATE, NAMED_TOO_LONG};

static void check(int code, const char *what) {
    if (code != 0) {
        printf("%s: %d\n", what, code);
        exit(1);
    }
}

int main(int count, char **words) {
    const char *library = count > 1 ? words[1] : "";
    int rounds = count > 2 ? atoi(words[2]) : 3;
    aclError (*find)(aclrtBinHandle, const char *, aclrtFuncHandle *) =
        (aclError(*)(aclrtBinHandle, const char *, aclrtFuncHandle *))hidden("aclrtBinaryGetFunction");
    aclError (*unload)(aclrtBinHandle) = aclrtBinaryUnLoad;
    if (count > 3) {
        unload = (aclError(*)(aclrtBinHandle))dlsym(RTLD_DEFAULT, words[3]);
    }
    aclrtStream stream;
    int argument = 1;
    check(aclInit(NULL), "init");
    check(aclrtSetDevice(0), "device");
    check(aclrtCreateStream(&stream), "stream");
    for (int round = 0; round < rounds; round++) {
        aclrtBinHandle binary;
        check(aclrtBinaryLoadFromFile(library, NULL, &binary), "load");
        for (int kernel = 0; kernel < KERNELS; kernel++) {
            aclrtFuncHandle function;
            check(find(binary, names[kernel], &function), "find");
            check(aclrtLaunchKernelWithHostArgs(function, 1, stream, NULL, &argument, sizeof argument, NULL, 0),
                  "launch");
            printf("error: %d\n", aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL));
        }
        check(aclrtSynchronizeStream(stream), "wait");
        check(unload(binary), "unload");
    }
    check(aclrtDestroyStream(stream), "destroy");
    check(aclrtResetDevice(0), "reset");
    check(aclFinalize(), "finalize");
    return 0;
}
