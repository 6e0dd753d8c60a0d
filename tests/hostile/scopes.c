/* After: a tracer that changes which function is called, where several libraries have one of a name.
 * Words: libraries to open one after another, each as HOW:PATH, with HOW one of "local", "global", "deep"
 * and "apart" (a namespace of its own). What has a function `plugin_ask` is asked which one it calls, when
 * all are open and again at the end.
 * Compiled with -DPLUGIN it is such a library, with -DNOTHING one that only needs others. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int32_t aclrtGetDevice(int32_t *value);

#if defined(PLUGIN)
#ifdef VERSION
__asm__(".symver aclrtGetDevice, aclrtGetDevice@" VERSION);
#endif
int plugin_ask(int32_t *value);
int plugin_ask(int32_t *value)
{
    *value = -1;
    return aclrtGetDevice(value);
}
#elif defined(NOTHING)
int plugin_nothing(void);
int plugin_nothing(void)
{
    return 0;
}
#else
int main(int argc, char **argv)
{
    int (*asks[16])(int32_t *);
    int made = 0, count = 0;
    char apart[16];

    for (int i = 1; i < argc && count < 16; i++) {
        char *path = strchr(argv[i], ':') + 1;
        int flags = RTLD_LAZY | (argv[i][0] == 'g' ? RTLD_GLOBAL : RTLD_LOCAL) |
                    (argv[i][0] == 'd' ? RTLD_DEEPBIND : 0);
        void *library = argv[i][0] == 'a' ? dlmopen(LM_ID_NEWLM, path, RTLD_LAZY) : dlopen(path, flags);
        if (library == NULL) {
            printf("%s\n", dlerror());
            return 1;
        }
        *(void **)&asks[count] = dlsym(library, "plugin_ask");
        apart[count] = argv[i][0] == 'a';
        count += asks[count] != NULL;
    }
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < count; i++) {
            int32_t value;
            int answer = asks[i](&value);
            made += !apart[i];
            printf("%d: %d %d\n", i, answer, value);
        }
    }
    printf("made %d\n", made);
    return 0;
}
#endif
