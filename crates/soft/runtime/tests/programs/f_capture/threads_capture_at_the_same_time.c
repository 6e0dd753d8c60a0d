/* Four threads capture on streams of their own; each gets what it submitted. */
#include "../capture.h"

enum { THREADS = 4 };
static aclmdlRI models[THREADS];
static aclrtStream streams[THREADS];
static uint64_t *words[THREADS];
static aclError codes[THREADS];

static void *captures(void *data)
{
    int own = (int)(intptr_t)data;
    codes[own] |= aclrtSetDevice(0);
    codes[own] |= aclmdlRICaptureBegin(streams[own], THREAD_LOCAL);
    for (int i = 0; i <= own; i++) {
        codes[own] |= aclrtLaunchHostFunc(streams[own], add_one, words[own]);
    }
    codes[own] |= aclmdlRICaptureEnd(streams[own], &models[own]);
    codes[own] |= aclrtResetDevice(0);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    start();
    for (int i = 0; i < THREADS; i++) {
        streams[i] = new_stream();
        words[i] = new_word(0);
    }
    for (int i = 0; i < THREADS; i++) {
        EXPECT(pthread_create(&threads[i], NULL, captures, (void *)(intptr_t)i), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        EXPECT(pthread_join(threads[i], NULL), 0);
        EXPECT(codes[i], 0);
    }
    for (int i = 0; i < THREADS; i++) {
        EXPECT(show(models[i]), i + 1);
        run(models[i], streams[i]);
        EXPECT(*words[i], i + 1);
    }
    return finish();
}
