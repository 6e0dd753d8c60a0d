/* After: programs that find their CANN by asking in which file a function of it lies, as frameworks do
 * at their start. Under a tracer the file must still be the runtime's, whatever way the function was
 * come by, and what belongs together in an answer must still do so.
 * Words: a library that has aclrtGetDevice of its own, and one with a function that no table has. */
#define _GNU_SOURCE
#include <acl/acl.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void tell(const char *what, const void *address)
{
    Dl_info info, other;
    struct link_map *map = NULL;
    const ElfW(Sym) *symbol = NULL;

    if (address == NULL) {
        printf("%s: nothing there\n", what);
        return;
    }
    if (dladdr(address, &info) == 0) {
        printf("%s: nowhere\n", what);
        return;
    }
    printf("%s: %s in %s", what, info.dli_sname ? info.dli_sname : "-", file_of(info.dli_fname));
    printf(", begins %s", info.dli_saddr == address ? "there" : "elsewhere");
    printf(", maps %d", dladdr1(address, &other, (void **)&map, RTLD_DL_LINKMAP));
    printf(" %s", map && strcmp(map->l_name, info.dli_fname) == 0 ? "same" : "other");
    printf(" %s", map && (void *)map->l_addr == info.dli_fbase ? "base" : "no base");
    printf(", symbols %d", dladdr1(address, &other, (void **)&symbol, RTLD_DL_SYMENT));
    printf(" %s\n", symbol && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC ? "function" : "-");
}

int main(int argc, char **argv)
{
    Dl_info info;
    void *runtime = dlopen("libascendcl.so", RTLD_LAZY | RTLD_NOLOAD);
    void *libc = dlopen("libc.so.6", RTLD_LAZY);
    char inside[64], beside[4096];

    if (argc < 3) {
        return 2;
    }
    void *own = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void *late = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    if (!runtime || !libc || !own || !late) {
        printf("a library is missing: %s\n", dlerror());
        return 1;
    }

    /* What a framework does: the folder of the file tells the version. */
    if (dladdr((void *)aclrtMalloc, &info) == 0) {
        return 1;
    }
    snprintf(beside, sizeof(beside), "%.*s/libascendcl.so", (int)(file_of(info.dli_fname) - info.dli_fname - 1), info.dli_fname);
    printf("found: %d\n", access(beside, R_OK) == 0);

    tell("linked", (void *)aclrtMalloc);
    tell("a variable number of arguments", (void *)aclAppLog);
    tell("fetched", dlsym(runtime, "aclrtFree"));
    tell("fetched from everywhere", dlsym(RTLD_DEFAULT, "aclrtMemcpy"));
    tell("one name in two libraries", dlsym(own, "aclrtGetDevice"));
    tell("the other one", (void *)aclrtGetDevice);
    tell("in no table", dlsym(late, "aclOwnPlain"));
    tell("behind its begin", (char *)dlsym(libc, "qsort") + 1);
    tell("of another library", (void *)printf);
    tell("the question itself", (void *)dladdr);
    tell("a question", (void *)dlsym);
    tell("the program", (void *)main);
    tell("data", (void *)&stdout);
    tell("the stack", inside);
    tell("nothing", (void *)8);

    printf("one dladdr: %d\n", dlsym(RTLD_DEFAULT, "dladdr") == (void *)dladdr);
    printf("one dladdr in libc: %d\n", dlsym(libc, "dladdr") == (void *)dladdr);
    printf("one dladdr1 in libc: %d\n", dlsym(libc, "dladdr1") == (void *)dladdr1);
    printf("one dlsym in libc: %d\n", dlsym(libc, "dlsym") == (void *)dlsym);
    printf("asked in between: %d\n", (dlsym(libc, "no such"), dladdr((void *)main, &info), dlerror() != NULL));
    return 0;
}
