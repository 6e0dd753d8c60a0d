// After a thread of the tool's that inherits what the program chose for one of its own: the thread that submits
// first is bound to one processor, and scheduled in another way than ordinary threads. A thread of the tool's must have
// the processors of the process, and be an ordinary one.
#define _GNU_SOURCE
#include <acl/acl.h>
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 64 };

static void check(int code, const char *what) {
    if (code != 0) {
        printf("%s: %d\n", what, code);
        exit(1);
    }
}

static int processors(pid_t thread) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    return sched_getaffinity(thread, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : -1;
}

// Threads that are not the program's and have fewer processors than the process had, or that are no ordinary ones.
static int confined(int all) {
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks != NULL && (entry = readdir(tasks)) != NULL;) {
        char path[300], name[64] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL) continue;
        if (fgets(name, sizeof name, file) == NULL) name[0] = 0;
        fclose(file);
        if (strncmp(name, "ascend-trace", 12) != 0) continue;
        pid_t thread = atoi(entry->d_name);
        count += processors(thread) != all || sched_getscheduler(thread) != SCHED_OTHER;
    }
    if (tasks != NULL) closedir(tasks);
    return count;
}

int main(void) {
    aclrtStream stream;
    void *memory;
    int all = processors(0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    check(aclInit(NULL), "init");
    check(aclrtSetDevice(0), "device");
    check(aclrtCreateStream(&stream), "stream");
    check(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), "memory");
    check(sched_setaffinity(0, sizeof one, &one), "pin");
    struct sched_param parameters = {0};
    check(sched_setscheduler(0, SCHED_BATCH, &parameters), "schedule");
    for (int i = 0; i < 20; i++) {
        check(aclrtMemsetAsync(memory, BYTES, i, BYTES, stream), "memset");
        check(aclrtSynchronizeStream(stream), "wait");
    }
    // It begins with the first task and takes its processors first of all.
    for (int tries = 0; tries < 2000 && confined(all) > 0; tries++) usleep(1000);
    printf("confined: %d\n", confined(all));
    check(aclrtDestroyStream(stream), "destroy");
    check(aclrtResetDevice(0), "reset");
    check(aclFinalize(), "finalize");
    return 0;
}
