/* What the demo programs share: buffers and error checks. */
#ifndef DEMO_H
#define DEMO_H

#include <stddef.h>

#include "acl/acl.h"

/* Ends the program with a message when an AscendCL call has failed. */
void demo_check(aclError code, const char *call);
#define CHECK(call) demo_check((call), #call)

void *demo_device_memory(size_t bytes);
void *demo_pinned_memory(size_t bytes);
void demo_host_work(unsigned us);

/* Each demo answers 0 when the results on the device are what they should be. */
int demo_overlap(int rounds);
int demo_pipeline(int rounds);
int demo_stall(int rounds);
int demo_transformer(int steps);

/* What timing does to this device, in numbers. */
int demo_measure(int device);

#endif
