/* Loads a plugin into a scope of its own; knows nothing of AscendCL. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **words)
{
    void *plugin = dlopen(count > 1 ? words[1] : "", RTLD_NOW | RTLD_LOCAL);
    int (*run)(void);

    if (plugin == NULL) {
        printf("%s\n", dlerror());
        return 1;
    }
    printf("in the host's scope: %s\n", dlsym(RTLD_DEFAULT, "aclInit") ? "yes" : "no");
    *(void **)&run = dlsym(plugin, "plugin_run");
    return run();
}
