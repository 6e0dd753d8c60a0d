/* names LIB64: all library names lead to one runtime. */
#include "../check.h"
#include <dlfcn.h>

int main(int argc, char **argv)
{
    static const char *const names[] = {"libascendcl.so", "libacl_rt.so", "libnnopbase.so",
                                        "libopapi.so", "libhccl.so"};
    char path[4096];
    for (int i = 0; argc > 1 && i < 5; i++) {
        void *by_name = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
        snprintf(path, sizeof path, "%s/%s", argv[1], names[i]);
        void *by_path = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
        TRUE(by_name != NULL && by_path != NULL);
        TRUE(by_name && dlsym(by_name, "aclrtSetDevice") == (void *)aclrtSetDevice);
        TRUE(by_path && dlsym(by_path, "aclrtSetDevice") == (void *)aclrtSetDevice);
    }
    start();
    return finish();
}
