/* Eight threads fetch and call functions of a library at the same time. */
#include <dlfcn.h>

#include "untyped.h"

enum { THREADS = 8, ROUNDS = 2000 };

static void *library;

static void *work(void *data)
{
    struct untyped own;
    long number = (long)data, sum = 0;

    for (long i = 0; i < ROUNDS; i++) {
        own.aclOwnPlain = (int (*)(int))dlsym(library, "aclOwnPlain");
        own.aclOwnMixed = (double (*)(TWENTY))dlsym(library, "aclOwnMixed");
        own.aclOwnVisit = (int (*)(visitor, void *, int))dlsym(library, "aclOwnVisit");
        sum += own.aclOwnPlain((int)(i + number));
        sum += (long)own.aclOwnMixed(1, 2, i, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, (int)number, 16, 17,
                                     18, 19, 20);
        sum += own.aclOwnVisit(untyped_visited, &own, 2);
    }
    return (void *)sum;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];

    library = dlopen(argv[argc - 1], RTLD_NOW);
    require(library != NULL, "the library loads");
    for (long i = 0; i < THREADS; i++) {
        require(pthread_create(&threads[i], NULL, work, (void *)i) == 0, "a thread starts");
    }
    for (int i = 0; i < THREADS; i++) {
        void *sum;
        pthread_join(threads[i], &sum);
        printf("%ld\n", (long)sum);
    }
    return 0;
}
