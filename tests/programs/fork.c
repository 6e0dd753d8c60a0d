/* A child that uses AscendCL from scratch, before and beside its parent. */
#include "program.h"

static void use_runtime(const char *name)
{
    DO(aclInit(NULL));
    fill_on_new_stream(0, 3);
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    printf("%s is done\n", name);
    fflush(stdout);
}

int main(void)
{
    pid_t child = fork();
    if (child == 0) {
        use_runtime("child");
        exit(4);
    }
    report_child("child", child);
    use_runtime("parent");

    /* A child that leaves the runtime alone, forked while it is up. */
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    child = fork();
    if (child == 0) {
        _exit(5);
    }
    report_child("idle child", child);
    fill_on_new_stream(0, 1);
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}
