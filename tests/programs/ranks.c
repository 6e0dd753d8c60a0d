/* A rank of a job of two: RANK FILE STEPS LATE. Rank 0 writes what both have to know to the file. Each step reduces once;
 * the late rank comes some milliseconds after the other one.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "program.h"

/* The software runtime has no header for these. */
typedef void *HcclComm;
typedef struct {
    char bytes[4108];
} HcclRootInfo;
enum { FP32 = 4, SUM = 0 };
int HcclGetRootInfo(HcclRootInfo *);
int HcclCommInitRootInfo(uint32_t, const HcclRootInfo *, uint32_t, HcclComm *);
int HcclAllReduce(void *, void *, uint64_t, int, int, HcclComm, aclrtStream);

enum { RANKS = 2, COUNT = 1024, LATE_US = 4000, LONG_ENOUGH = 60000 };

static void hand_out(const char *name, const HcclRootInfo *root)
{
    char other[4096];
    FILE *file;

    snprintf(other, sizeof other, "%s.new", name);
    file = fopen(other, "wb");
    require(file != NULL, "a file can be made");
    require(fwrite(root, sizeof *root, 1, file) == 1, "it takes all");
    fclose(file);
    require(rename(other, name) == 0, "it gets its name");
}

static void await(const char *name, HcclRootInfo *root)
{
    for (int turn = 0; turn < LONG_ENOUGH; turn++) {
        FILE *file = fopen(name, "rb");

        if (file != NULL) {
            require(fread(root, sizeof *root, 1, file) == 1, "all is there");
            fclose(file);
            return;
        }
        usleep(1000);
    }
    require(0, "the other rank begins");
}

int main(int count, char **words)
{
    require(count == 5, "four words");
    int rank = atoi(words[1]), steps = atoi(words[3]), late = atoi(words[4]);
    HcclRootInfo root;
    HcclComm comm;
    aclrtStream stream;
    void *from, *to;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&from, COUNT * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMalloc(&to, COUNT * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
    if (rank == 0) {
        require(HcclGetRootInfo(&root) == 0, "what both ranks know");
        hand_out(words[2], &root);
    } else {
        await(words[2], &root);
    }
    require(HcclCommInitRootInfo(RANKS, &root, (uint32_t)rank, &comm) == 0, "a communicator");
    for (int step = 0; step < steps; step++) {
        DO(aclrtMemsetAsync(from, COUNT * sizeof(float), 0, COUNT * sizeof(float), stream));
        if (rank == late) {
            usleep(LATE_US);
        }
        require(HcclAllReduce(from, to, COUNT, FP32, SUM, comm, stream) == 0, "a collective");
        DO(aclrtSynchronizeStream(stream));
    }
    puts("done");
    return 0;
}
