/* Calls what it is linked to, what it asks for by name, and something with many arguments; asks where
 * functions lie. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int aclInit(const char *config);
int aclFinalize(void);
int aclrtSetDevice(int32_t device);
void aclAppLog(int level, const char *func, const char *file, uint32_t line, const char *format, ...);

typedef int (*copy_function)(void *, size_t, const void *, size_t, int, void *);

static int copies(copy_function copy, int times)
{
    char to[77], from[66];
    int failed = 0;
    for (int time = 0; time < times; time++) {
        failed += copy(to, sizeof to, from, sizeof from, 1, (void *)0x5500) != 0;
    }
    return failed;
}

static int is_in_runtime(void *address)
{
    Dl_info info;
    return dladdr(address, &info) != 0 && strstr(info.dli_fname, "/libascendcl.so") != NULL &&
           info.dli_saddr == address;
}

int main(void)
{
    const char *name = "aclrtMemcpyAsync";
    printf("%d %d\n", aclInit(NULL), aclrtSetDevice(3));
    printf("%d\n", copies((copy_function)dlsym(RTLD_DEFAULT, name), 5));
    printf("%d\n", copies((copy_function)dlsym(RTLD_NEXT, name), 7));
    void *handle = dlopen("libascendcl.so", RTLD_NOW);
    printf("%d\n", copies((copy_function)dlsym(handle, name), 11));
    printf("%d %d\n", dlsym(handle, "aclrtSynchronizeDevice") == NULL, dlerror() != NULL);
    aclAppLog(1, "main", "file", 9, "%d %d %d %d %g %g %g %g %g %g %g %g %g %s\n", 4, 5, 6, 7, 1.5, 2.5,
              3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, "end");
    printf("%d %d %d %d\n", is_in_runtime((void *)aclrtSetDevice), is_in_runtime((void *)aclAppLog),
           is_in_runtime(dlsym(handle, name)), is_in_runtime((void *)main));
    printf("%d\n", aclFinalize());
    return 7;
}
