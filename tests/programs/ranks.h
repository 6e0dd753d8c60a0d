/* What programs of several ranks share: each rank is a process, and the first one writes the identity of the communicator
 * to a file.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef TESTS_RANKS_H
#define TESTS_RANKS_H

#include "program.h"

#include "hccl/hccl.h"

enum { LONG_ENOUGH = 60000 };

static inline void hand_out(const char *name, const HcclRootInfo *root)
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

static inline void await(const char *name, HcclRootInfo *root)
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

/* Starts this program for each rank, and waits for all. */
static inline int start_all(char **words, int ranks)
{
    int failed = 0;

    for (int rank = 0; rank < ranks; rank++) {
        char own[16];

        snprintf(own, sizeof own, "%d", rank);
        if (fork() == 0) {
            setenv("RANK", own, 1);
            words[1] = own;
            execv(words[0], words);
            _exit(127);
        }
    }
    for (int rank = 0; rank < ranks; rank++) {
        int status = 0;

        require(wait(&status) > 0, "a rank ends");
        failed |= status;
    }
    return failed != 0;
}

/* The communicator of all ranks. */
static inline HcclComm communicator(const char *name, int ranks, int rank)
{
    HcclRootInfo root;
    HcclComm comm;

    if (rank == 0) {
        require(HcclGetRootInfo(&root) == 0, "what all ranks know");
        hand_out(name, &root);
    } else {
        await(name, &root);
    }
    require(HcclCommInitRootInfo((uint32_t)ranks, &root, (uint32_t)rank, &comm) == 0, "a communicator");
    return comm;
}

#endif
