/* Two libraries offer one name; each keeps its own function, for many threads at once. */
#include "program.h"
#include <dlfcn.h>

enum { THREADS = 4, ROUNDS = 1000 };

typedef int32_t query(int32_t *value);
typedef int gemm(int, int, int, int, int, int, const void *, const void *, int, int, const void *,
                 int, int, const void *, void *, int, int, int, void *);

static query *one, *two;

static void *work(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        int32_t first = 0, second = 0;
        int32_t code = one(&first);
        require(code == 11 && first == 1, "the first library answers");
        code = two(&second);
        require(code == 22 && second == 2, "the second library answers");
    }
    return unused;
}

int main(int count, char **words)
{
    pthread_t threads[THREADS];
    void *libraries[2];

    require(count == 3, "two libraries are named");
    for (int i = 0; i < 2; i++) {
        libraries[i] = dlopen(words[i + 1], RTLD_NOW | RTLD_LOCAL);
        require(libraries[i] != NULL, "the library is there");
    }
    *(void **)&one = dlsym(libraries[0], "aclrtGetDevice");
    *(void **)&two = dlsym(libraries[1], "aclrtGetDevice");
    require(one != NULL && two != NULL && one != two, "each has its own");
    require((void *)two == dlsym(libraries[1], "aclrtGetDevice"), "it stays the same");
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < 2; i++) {
        gemm *function;
        *(void **)&function = dlsym(libraries[i], "aclblasGemmEx");
        int code = function(1, 2, 3, 4, 5, 6, (void *)7, (void *)8, 9, 10, (void *)11, 12, 13,
                            (void *)14, (void *)15, 16, 17, 18, NULL);
        printf("nineteen arguments: %d\n", code);
    }
    return 0;
}
