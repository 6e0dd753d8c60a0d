/* Knows nothing of AscendCL: it comes with a plugin, in a scope of its own. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **words)
{
    for (int round = 0; round < 2; round++) {
        void *plugin = dlopen(count > 1 ? words[1] : "plugin.so", RTLD_NOW | RTLD_LOCAL);
        int (*run)(void);

        if (plugin == NULL) {
            printf("%s\n", dlerror());
            return 1;
        }
        *(void **)&run = dlsym(plugin, "plugin_run");
        printf("the plugin answers %d\n", run());
        printf("seen from outside: %s\n", dlsym(plugin, "no_such_name") ? "yes" : "no");
        dlclose(plugin);
    }
    return 3;
}
