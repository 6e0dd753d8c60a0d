/* names LIBRARY...: all the libraries, named as dlopen takes them, lead to one runtime. Compiled
   with LINKED, the program is linked to one of them as well and begins with it. */
#include "../check.h"
#include <dlfcn.h>

struct api {
    aclError (*init)(const char *);
    aclError (*finalize_reference)(uint64_t *);
    aclError (*set_device)(int32_t);
    aclError (*create_stream)(aclrtStream *);
    aclError (*stream_id)(aclrtStream, int32_t *);
    aclError (*launch)(aclrtStream, aclrtHostFunc, void *);
    aclError (*synchronize)(aclrtStream);
    aclError (*destroy_stream)(aclrtStream);
};

static struct api open_library(const char *name)
{
    struct api api = {0};
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    *(void **)&api.init = dlsym(library, "aclInit");
    *(void **)&api.finalize_reference = dlsym(library, "aclFinalizeReference");
    *(void **)&api.set_device = dlsym(library, "aclrtSetDevice");
    *(void **)&api.create_stream = dlsym(library, "aclrtCreateStream");
    *(void **)&api.stream_id = dlsym(library, "aclrtStreamGetId");
    *(void **)&api.launch = dlsym(library, "aclrtLaunchHostFunc");
    *(void **)&api.synchronize = dlsym(library, "aclrtSynchronizeStream");
    *(void **)&api.destroy_stream = dlsym(library, "aclrtDestroyStream");
    return api;
}

/* A stream that one of them made is the same stream for the other. */
static void share_a_stream(const struct api *maker, const struct api *user)
{
    aclrtStream stream;
    int32_t made_id = -1;
    int32_t used_id = -2;
    int calls = 0;
    OK(maker->create_stream(&stream));
    OK(maker->stream_id(stream, &made_id));
    OK(user->stream_id(stream, &used_id));
    EXPECT(made_id, used_id);
    OK(user->launch(stream, count_call, &calls));
    OK(maker->synchronize(stream));
    EXPECT(calls, 1);
    OK(user->destroy_stream(stream));
    EXPECT(maker->synchronize(stream), ACL_ERROR_RT_INVALID_HANDLE);
}

int main(int argc, char **argv)
{
    uint64_t left = 0;
#ifdef LINKED
    struct api first = {aclInit,          aclFinalizeReference, aclrtSetDevice,
                        aclrtCreateStream, aclrtStreamGetId,    aclrtLaunchHostFunc,
                        aclrtSynchronizeStream, aclrtDestroyStream};
#else
    struct api first = open_library(argv[1]);
#endif
    OK(first.init(NULL));
    OK(first.set_device(0));
    for (int i = 1; i < argc; i++) {
        struct api other = open_library(argv[i]);
        EXPECT(other.init(NULL), ACL_ERROR_REPEAT_INITIALIZE);
        share_a_stream(&first, &other);
        share_a_stream(&other, &first);
    }
    OK(first.finalize_reference(&left));
    EXPECT(left, argc - 1);
    return finish();
}
