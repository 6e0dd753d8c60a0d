// After the last times of a runtime that is opened late and ends early: what it registers for the end runs before
// the destructors of a library that was there first. The program opens it itself, as Python does, leaves tasks
// unread, and says at its own end, which was registered before, whether the runtime is still asked.
#include <acl/acl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 4096, TASKS = 25 };

static void *library;

static volatile int is_reached;

static void reached(void *nothing) {
    (void)nothing;
    is_reached = 1;
}

static void *symbol(const char *name) {
    void *address = dlsym(library, name);
    if (address == NULL) {
        printf("no %s\n", name);
        exit(1);
    }
    return address;
}

#define CALL(name) ((__typeof__(&name))symbol(#name))

int main(void) {
    void *memory;
    aclrtStream stream;
    library = dlopen("libascendcl.so", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        printf("%s\n", dlerror());
        return 1;
    }
    CALL(aclInit)(NULL);
    CALL(aclrtSetDevice)(0);
    CALL(aclrtCreateStream)(&stream);
    CALL(aclrtMalloc)(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST);
    for (int i = 0; i < TASKS; i++) {
        CALL(aclrtMemsetAsync)(memory, BYTES, i, BYTES, stream);
    }
    // The device is done with them when it comes to this, and nobody has asked.
    CALL(aclrtLaunchHostFunc)(stream, reached, NULL);
    while (!is_reached) usleep(1000);
    printf("left\n");
    return 0;
}
