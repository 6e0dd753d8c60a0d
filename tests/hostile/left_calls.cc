// Calls that do not return: left by exceptions, by longjmp, by pthread_exit and by cancellation. Each of
// them was made, so each is recorded or counted; and the calls after them are as good as any.
// SPDX-License-Identifier: MIT OR Apache-2.0
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <pthread.h>
#include <unistd.h>

#include "acl/acl.h"
#include "left_library.h"

namespace {

enum { TIMES = 100, THREADS = 5 };

unsigned long made, left;

#define COUNT(call) (__atomic_fetch_add(&made, 1, __ATOMIC_SEQ_CST), (call))
#define LEAVE(call) (__atomic_fetch_add(&left, 1, __ATOMIC_SEQ_CST), COUNT(call))

int32_t major, minor, patch;

void plain() { LEAVE(aclrtGetVersion(&major, &minor, &patch)); }
void with_role() { LEAVE(aclrtSynchronizeStream(nullptr)); }

void both(int how)
{
    jmp_buf here;
    for (volatile int i = 0; i < TIMES; i = i + 1) {
        void (*volatile ways[])() = {plain, with_role};
        for (auto &call : ways) {
            leave_by(how, &here);
            try {
                if (setjmp(here) == 0) {
                    call();
                    std::puts("it came back");
                }
            } catch (int) {
            }
            leave_by(RETURN, nullptr);
            COUNT(aclrtGetVersion(&major, &minor, &patch));
        }
    }
}

void nested()
{
    for (int i = 0; i < TIMES; i++) {
        leave_by(NEST, nullptr);
        try {
            // The library makes the inner call, which throws through both.
            left++;
            made++;
            with_role();
        } catch (int) {
        }
    }
}

void *exits(void *how)
{
    leave_by(EXIT, nullptr);
    how ? plain() : with_role();
    return nullptr;
}

void *waits(void *how)
{
    leave_by(WAIT, nullptr);
    how ? plain() : with_role();
    return nullptr;
}

} // namespace

int main()
{
    leave_by(RETURN, nullptr);
    both(THROW);
    both(JUMP);
    nested();
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, nullptr, exits, i % 2 ? &major : nullptr);
        pthread_join(thread, nullptr);
        unsigned long before = __atomic_load_n(&left, __ATOMIC_SEQ_CST);
        pthread_create(&thread, nullptr, waits, i % 2 ? &major : nullptr);
        while (__atomic_load_n(&left, __ATOMIC_SEQ_CST) == before) {
            usleep(100);
        }
        usleep(1000);
        pthread_cancel(thread);
        pthread_join(thread, nullptr);
    }
    // The last call of a thread that jumped is known to be left once another one is made.
    leave_by(RETURN, nullptr);
    COUNT(aclrtGetVersion(&major, &minor, &patch));
    std::printf("left %lu\nmade %lu\n", left, made);
    return 0;
}
