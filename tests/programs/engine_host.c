/* Loads the library named by its argument and has it call its own functions. With a second argument
 * another thread runs while the library is loaded, and ends before more is done. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int running, stop;
static jmp_buf place;

static void *run(void *unused)
{
    atomic_store(&running, 1);
    while (!atomic_load(&stop))
        ;
    return unused;
}

static void leave(void)
{
    longjmp(place, 1);
}

int main(int count, char **words)
{
    pthread_t thread;
    if (count > 2) {
        pthread_create(&thread, NULL, run, NULL);
        while (!atomic_load(&running))
            ;
    }
    void *library = dlopen(words[1], RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        puts(dlerror());
        return 1;
    }
    int (*get)(int *) = (int (*)(int *))dlsym(library, "aclrtGetDevice");
    int (*inner_get)(void) = (int (*)(void))dlsym(library, "inner_get_device");
    int (*inner_set)(int) = (int (*)(int))dlsym(library, "inner_set_device");
    int (*inner_others)(void) = (int (*)(void))dlsym(library, "inner_others");
    int (*inner_leave)(void (*)(void)) = (int (*)(void (*)(void)))dlsym(library, "inner_leave");
    int device = 0, sum = 0;
    int code = get(&device);
    printf("%d %d\n", code, device);
    if (count > 2) {
        atomic_store(&stop, 1);
        pthread_join(thread, NULL);
        printf("%d\n", dlsym(library, "aclrtSetDevice") != NULL);
    }
    for (int i = 0; i < 1000; i++)
        sum += inner_get();
    printf("%d\n", sum);
    int first = inner_set(1), second = inner_set(7);
    printf("%d %d\n", first, second);
    printf("%d\n", inner_others());
    if (!setjmp(place))
        inner_leave(leave);
    puts("left");
    return dlclose(library);
}
