/* What the demo programs share: buffers, error checks, pacing. */
#ifndef DEMO_H
#define DEMO_H

#include <stddef.h>

#include "acl/acl.h"

/* How long a demo runs: rounds of work, and a rest after each so that a person can follow. */
struct demo_pace {
    int rounds;
    unsigned rest_us;
};

/* Ends the program with a message when an AscendCL call has failed. */
void demo_check(aclError code, const char *call);
#define CHECK(call) demo_check((call), #call)

void *demo_device_memory(size_t bytes);
void *demo_pinned_memory(size_t bytes);
void demo_host_work(unsigned us);

/* Each demo answers 0 when the results on the device are what they should be. */
int demo_overlap(struct demo_pace pace);
int demo_pipeline(struct demo_pace pace);
int demo_stall(struct demo_pace pace);

#endif
