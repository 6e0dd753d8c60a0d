// Functions of AscendCL that never come back: they throw, jump, end their thread or wait to be cancelled, as
// the program has asked for. The software runtime, being written in Rust, lets nothing through but returns.
// SPDX-License-Identifier: MIT OR Apache-2.0
#include <csetjmp>
#include <cstdint>
#include <pthread.h>
#include <unistd.h>

#include "acl/acl.h"
#include "left_library.h"

static thread_local int way;
static thread_local jmp_buf *target;

void leave_by(int how, jmp_buf *where)
{
    way = how;
    target = where;
}

static int leave()
{
    switch (way) {
    case THROW:
        throw 7;
    case JUMP:
        longjmp(*target, 1);
    case EXIT:
        pthread_exit(nullptr);
    case WAIT:
        sleep(1000);
        return 1;
    case NEST: {
        int32_t major, minor, patch;
        way = THROW;
        return aclrtGetVersion(&major, &minor, &patch);
    }
    }
    return 0;
}

extern "C" {

aclError aclrtGetVersion(int32_t *, int32_t *, int32_t *) { return leave(); }
aclError aclrtSynchronizeStream(aclrtStream) { return leave(); }
}
