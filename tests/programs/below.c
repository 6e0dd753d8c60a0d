/* Opens a library that calls nothing of AscendCL's but the layer below it.
 *   below LIBRARY ROUNDS [THREADS] */
#include "program.h"
#include <dlfcn.h>
#include <pthread.h>

static int (*run)(int rounds);
static int rounds;

static void *thread(void *made)
{
    *(int *)made = run(rounds);
    return NULL;
}

int main(int count, char **words)
{
    void *library = dlopen(count > 1 ? words[1] : "", RTLD_NOW | RTLD_LOCAL);
    pthread_t own;
    int made = 0;

    require(library != NULL, "the library is there");
    *(void **)&run = dlsym(library, "below_run");
    require(run != NULL, "it has its function");
    rounds = count > 2 ? atoi(words[2]) : 1;
    /* A thread of the library's: nobody has chosen a device for it. */
    require(pthread_create(&own, NULL, thread, &made) == 0, "there is a thread");
    require(pthread_join(own, NULL) == 0, "it ends");
    printf("made %d\n", made);
    return 0;
}
