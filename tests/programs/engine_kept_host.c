/* Loads the library named by its argument and has it call its own functions, with and without others
 * in between. */
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
    long (*registers)(void) = (long (*)(void))dlsym(library, "inner_registers");
    long (*sum)(long, long, long, long, double, double) =
        (long (*)(long, long, long, long, double, double))dlsym(library, "inner_sum");
    long (*loop)(int, long, double) = (long (*)(int, long, double))dlsym(library, "inner_loop");
    long (*arguments)(void) = (long (*)(void))dlsym(library, "inner_arguments");
    long (*ignored)(void) = (long (*)(void))dlsym(library, "inner_ignored");
    int device = 0;
    printf("%d\n", get(&device));
    printf("registers %ld\n", registers());
    printf("sum %ld\n", sum(3, 5, 7, 11, 1.25, 2.5));
    printf("loop %ld\n", loop(1000, 17, 0.75));
    printf("arguments %ld\n", arguments());
    printf("ignored %ld\n", ignored());
    return 0;
}
