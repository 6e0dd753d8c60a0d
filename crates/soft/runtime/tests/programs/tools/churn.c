/* churn COUNT: creates and destroys streams, events and contexts, and compares the process after it
 * with the process before it. */
#include "../check.h"
#include <dirent.h>

static long memory_kb(void)
{
    char line[256];
    long kb = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        sscanf(line, "VmRSS: %ld", &kb);
    }
    if (status) {
        fclose(status);
    }
    return kb;
}

static int entries(const char *path)
{
    int count = 0;
    DIR *dir = opendir(path);
    while (dir && readdir(dir)) {
        count++;
    }
    if (dir) {
        closedir(dir);
    }
    return count;
}

static void churn(int count)
{
    int calls = 0, failed = 0;
    aclrtContext own, context;
    OK(aclrtGetCurrentContext(&own));
    for (int i = 0; i < count; i++) {
        aclrtStream stream;
        aclrtEvent event;
        failed += aclrtCreateStream(&stream) != 0;
        failed += aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE) != 0;
        failed += aclrtRecordEvent(event, stream) != 0;
        if (i % 50 == 0) {
            failed += aclrtLaunchHostFunc(stream, count_call, &calls) != 0;
        }
        failed += aclrtDestroyEvent(event) != 0;
        failed += aclrtDestroyStream(stream) != 0;
        if (i % 100 == 0) {
            failed += aclrtCreateContext(&context, 1) != 0;
            failed += aclrtLaunchHostFunc(NULL, count_call, &calls) != 0;
            failed += aclrtDestroyContext(context) != 0;
            failed += aclrtSetCurrentContext(own) != 0;
        }
    }
    EXPECT(failed, 0);
    EXPECT(calls, (count + 49) / 50 + (count + 99) / 100);
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 2000;
    start();
    churn(1500);
    sleep_ms(200);
    long memory = memory_kb();
    int threads = entries("/proc/self/task"), files = entries("/proc/self/fd");
    churn(count);
    for (int i = 0; i < 100 && entries("/proc/self/task") > threads; i++) {
        sleep_ms(20);
    }
    EXPECT(entries("/proc/self/task"), threads);
    EXPECT(entries("/proc/self/fd"), files);
    TRUE(memory_kb() <= memory + 4096);
    return finish();
}
