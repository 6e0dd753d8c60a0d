/* Loads the library named by its argument and has it call its own function. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **words)
{
    void *library = count > 1 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        puts(dlerror());
        return 1;
    }
    int (*get)(int *) = (int (*)(int *))dlsym(library, "aclrtGetDevice");
    int (*inner)(void) = (int (*)(void))dlsym(library, "inner_get_device");
    int device = 0;
    int code = get(&device);
    printf("%d %d\n", code, device);
    printf("%d\n", inner());
    return 0;
}
