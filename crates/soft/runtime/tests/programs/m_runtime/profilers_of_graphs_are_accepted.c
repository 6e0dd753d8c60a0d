/* The profiler of graphs is accepted. Processes cannot be bound, whatever they are to be bound by. */
#include "../check.h"

int aclgrphProfInit(const char *path, uint32_t length);
void *aclgrphProfCreateConfig(uint32_t *devices, uint32_t count, uint32_t metrics, void *events, uint64_t types);
int aclgrphProfStart(void *config);
int aclgrphProfStop(void *config);
int aclgrphProfDestroyConfig(void *config);
int aclgrphProfFinalize(void);

typedef struct {
    int32_t host_pid;
    uint32_t chip;
    uint32_t kind;
    uint32_t device;
} host_pid_info;

int rtBindHostPid(host_pid_info info);
int rtUnbindHostPid(host_pid_info info);

int main(void)
{
    uint32_t device = 0;
    start();
    OK(aclgrphProfInit("here", 4));
    void *config = aclgrphProfCreateConfig(&device, 1, 0, NULL, 1);
    TRUE(config != NULL);
    OK(aclgrphProfStart(config));
    OK(aclgrphProfStop(config));
    OK(aclgrphProfDestroyConfig(config));
    OK(aclgrphProfFinalize());

    host_pid_info info = {1, 0, 0, 0};
    EXPECT(rtBindHostPid(info), 207000);
    EXPECT(rtUnbindHostPid(info), 207000);
    return finish();
}
