/* A library of AscendCL whose functions call each other in one file. A compiler that sees both the
 * caller and the function that it calls knows which registers the function leaves alone, and keeps
 * values there, whatever the platform's calling convention says (gcc: -fipa-ra, part of -O2); nor need
 * it align the stack for a function that does not care. `checked_call` does the same by hand, with
 * every register there is, `inner_sum` leaves it to the compiler. */
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#ifdef __clang__
#define PATCHABLE __attribute__((noinline, patchable_function_entry(16)))
#else
#define PATCHABLE __attribute__((noinline, noclone, patchable_function_entry(16)))
#endif
#ifdef PROTECTED
#define OPEN PATCHABLE __attribute__((visibility("protected")))
#else
#define OPEN PATCHABLE
#endif
#define UNUSED __attribute__((unused))
#define OWN(name) extern __typeof__(name) own_##name __attribute__((visibility("hidden"), alias(#name)))

OPEN int aclrtGetDevice(int *device)
{
    *device = 41;
    return 0;
}
OWN(aclrtGetDevice);

/* Answers nothing. */
OPEN void aclSetTensorDescName(void *desc, const char *name)
{
    *(const char **)desc = name;
}
OWN(aclSetTensorDescName);

/* Answers in a vector register. */
OPEN float aclFloat16ToFloat(uint16_t value)
{
    return (float)value * 0.5f;
}
OWN(aclFloat16ToFloat);

/* The same, written below. */
double own_acldvppGetBorderConfigValue(const void *config, uint32_t index) __attribute__((visibility("hidden")));

/* Takes arguments on the stack. */
OPEN int aclmdlSetAIPPCscParams(void *set, int8_t on, int16_t a, int16_t b, int16_t c, int16_t d, int16_t e,
                                int16_t f, int16_t g, int16_t h, int16_t i, uint8_t j, uint8_t k, uint8_t l,
                                uint8_t m, uint8_t n, uint8_t o)
{
    *(long *)set = on + 2 * a + 3 * b + 4 * c + 5 * d + 6 * e + 7 * f + 8 * g + 9 * h + 10 * i + 11 * j + 12 * k
        + 13 * l + 14 * m + 15 * n + 16 * o;
    return on == 1 ? 0 : 107000;
}
OWN(aclmdlSetAIPPCscParams);

/* Takes a structure by value, of a size that goes by memory, in the middle. */
struct handle {
    char reserved[64];
};
OPEN int aclrtIpcOpenEventHandle(struct handle handle, void **event)
{
    *event = (void *)(intptr_t)handle.reserved[63];
    return handle.reserved[0] == 3 ? 0 : 107000;
}
OWN(aclrtIpcOpenEventHandle);

/* No table has it. */
OPEN long aclNewlyMade(long a, long b, long c, long d, long e, long f, long g, long h, double x, long i, long j)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * (long)x + 10 * i + 11 * j;
}
OWN(aclNewlyMade);

/* Takes any number of arguments. */
static long logged;
OPEN void aclAppLog(int level, const char *func UNUSED, const char *file UNUSED, uint32_t line, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    /* `func` and `file` are ignored: clang passes nothing for them. */
    logged = *format;
    for (int number = level; number > 0; number--) {
        logged = logged * 3 + va_arg(list, long);
    }
    logged += line + (long)va_arg(list, double);
    va_end(list);
}
OWN(aclAppLog);

/* They ignore memory that other versions read or write. */
OPEN int aclrtGetMemInfo(int attr, size_t *free UNUSED, size_t *total)
{
    *total = 1000 + (size_t)attr;
    return 0;
}
OWN(aclrtGetMemInfo);

OPEN void *aclCreateIntArray(const int64_t *value UNUSED, uint64_t size)
{
    return (void *)(intptr_t)(size + 1);
}
OWN(aclCreateIntArray);

OPEN int aclmdlLoadFromFile(const char *path UNUSED, uint32_t *model)
{
    *model = 7;
    return 0;
}
OWN(aclmdlLoadFromFile);

/* What a compiler may leave in the place of an argument that is ignored. */
static void *volatile garbage[] = {(void *)8, (void *)0x7ff123456789, (void *)0x4142434445464748, (void *)~0ul};

long inner_ignored(void)
{
    long sum = 0;
    for (int kind = 0; kind < 4; kind++) {
        size_t total = 0;
        sum += own_aclrtGetMemInfo(kind, garbage[kind], &total);
        sum += (long)total;
        sum += (long)(intptr_t)own_aclCreateIntArray(garbage[kind], 5);
        uint32_t model = 0;
        sum += own_aclmdlLoadFromFile(garbage[kind], &model) + model;
    }
    return sum;
}

long inner_sum(long a, long b, long c, long d, double x, double y)
{
    long s = a * 3 + b, t = b * 5 + c, u = c * 7 + d, v = a + d * 9;
    double p = x * 3 + y, q = y * 7 + x;
    int device = 0;
#ifdef PROTECTED
    aclrtGetDevice(&device);
#else
    own_aclrtGetDevice(&device);
#endif
    return device + s + t * 2 + u * 3 + v * 4 + (long)(p * 1.5 + q * 2) + a + b + c + d;
}

/* In a loop, so that values are held over many calls. */
long inner_loop(int times, long a, double x)
{
    long sum = 0;
    static char name[2];
    char *got = name;
    for (int time = 0; time < times; time++) {
        long s = a * time + 3;
        double p = x * time;
        own_aclSetTensorDescName(&got, name + time % 2);
        sum += s * (got - name + 1) + (long)p + (long)own_aclFloat16ToFloat((uint16_t)time);
    }
    return sum;
}

long inner_arguments(void)
{
    double config = 2.5;
    void *event = 0;
    struct handle handle = {{3}};
    handle.reserved[63] = 77;
    long set = 0;
    long sum = own_aclmdlSetAIPPCscParams(&set, 1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, 12, 13, 14, 15, 16);
    sum += set;
    sum += own_aclrtIpcOpenEventHandle(handle, &event) + (long)event;
    sum = sum * 10 + (long)(2 * own_acldvppGetBorderConfigValue(&config, 4));
    sum = sum * 10000 + own_aclNewlyMade(1, 2, 3, 4, 5, 6, 7, 8, 9.5, 10, 11);
    own_aclAppLog(12, "a", "b", 9, "c", 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L, 11L, 12L, 13.5);
    return sum * 1000 + logged % 1000;
}

#if defined(__x86_64__)
/* What registers hold: general ones and the whole of 32 vectors, 8 masks. */
struct registers {
    uint64_t general[9];
    uint64_t masks[8];
    uint64_t vectors[32][8];
};

static int has_masks(void)
{
    return __builtin_cpu_supports("avx512bw");
}

#define EACH(do) do(0) do(1) do(2) do(3) do(4) do(5) do(6) do(7)
#define STORE_X(n) "movups %%xmm" #n ", 136+64*" #n "(%%rbx)\n"
#define STORE_Y(n) "vmovups %%ymm" #n ", 136+64*" #n "(%%rbx)\n"
#define STORE_Z(n) "vmovups %%zmm" #n ", 136+64*" #n "(%%rbx)\n"
#define LOAD_X(n) "movups 136+64*" #n "(%%r12), %%xmm" #n "\n"
#define LOAD_Y(n) "vmovups 136+64*" #n "(%%r12), %%ymm" #n "\n"
#define LOAD_Z(n) "vmovups 136+64*" #n "(%%r12), %%zmm" #n "\n"
#define LOW(do) EACH(do) do(8) do(9) do(10) do(11) do(12) do(13) do(14) do(15)
#define HIGH(do) do(16) do(17) do(18) do(19) do(20) do(21) do(22) do(23) do(24) do(25) do(26) do(27) do(28) \
    do(29) do(30) do(31)
#define STORE_K(n) "kmovq %%k" #n ", 72+8*" #n "(%%rbx)\n"
#define LOAD_K(n) "kmovq 72+8*" #n "(%%r12), %%k" #n "\n"
/* With the stack `skew` bytes away from where the convention has it. */
#define CALL(load, store) \
    "mov %%rsp, %%r13\n" \
    "sub $256, %%rsp\n" \
    "and $-64, %%rsp\n" \
    "sub %%r15, %%rsp\n" \
    load \
    "mov (%%r12), %%rdi\n mov 8(%%r12), %%rsi\n mov 16(%%r12), %%rdx\n mov 24(%%r12), %%rcx\n" \
    "mov 32(%%r12), %%r8\n mov 40(%%r12), %%r9\n mov 48(%%r12), %%rax\n mov 56(%%r12), %%r10\n" \
    "mov 64(%%r12), %%r11\n" \
    "call *%%r14\n" \
    "mov %%r13, %%rsp\n" \
    "mov %%rdi, (%%rbx)\n mov %%rsi, 8(%%rbx)\n mov %%rdx, 16(%%rbx)\n mov %%rcx, 24(%%rbx)\n" \
    "mov %%r8, 32(%%rbx)\n mov %%r9, 40(%%rbx)\n mov %%rax, 48(%%rbx)\n mov %%r10, 56(%%rbx)\n" \
    "mov %%r11, 64(%%rbx)\n" store
#define CALLED \
    : "+b"(to), "+r"(r12), "+r"(r14), "+r"(r15) \
    : \
    : "r13", "rdi", "rsi", "rdx", "rcx", "r8", "r9", "rax", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", \
      "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

static void call(void *function, struct registers *before, struct registers *after, long skew)
{
    struct registers *to = after;
    register struct registers *r12 __asm__("r12") = before;
    register void *r14 __asm__("r14") = function;
    register long r15 __asm__("r15") = skew;
    memcpy(after, before, sizeof *after);
    if (has_masks()) {
        __asm__ volatile(CALL(LOW(LOAD_Z) HIGH(LOAD_Z) EACH(LOAD_K), LOW(STORE_Z) HIGH(STORE_Z) EACH(STORE_K)
                              "vzeroupper\n") CALLED);
    } else if (__builtin_cpu_supports("avx")) {
        __asm__ volatile(CALL(LOW(LOAD_Y), LOW(STORE_Y) "vzeroupper\n") CALLED);
    } else {
        __asm__ volatile(CALL(LOW(LOAD_X), LOW(STORE_X)) CALLED);
    }
}

enum { RESULT = 6, SKEW = 8 };

#elif defined(__aarch64__)
struct registers {
    /* x0 to x15 and x18: the linker may use x16 and x17 between a call and its function. */
    uint64_t general[18];
    uint64_t vectors[32][2];
};

#define LOAD_Q(a, b) "ldp q" #a ", q" #b ", [x20, #144+16*" #a "]\n"
#define STORE_Q(a, b) "stp q" #a ", q" #b ", [x19, #144+16*" #a "]\n"
#define EACH(do) do(0, 1) do(2, 3) do(4, 5) do(6, 7) do(8, 9) do(10, 11) do(12, 13) do(14, 15) do(16, 17) \
    do(18, 19) do(20, 21) do(22, 23) do(24, 25) do(26, 27) do(28, 29) do(30, 31)
#define LOAD_X(a, b) "ldp x" #a ", x" #b ", [x20, #8*" #a "]\n"
#define STORE_X(a, b) "stp x" #a ", x" #b ", [x19, #8*" #a "]\n"
#define LOW(do) do(0, 1) do(2, 3) do(4, 5) do(6, 7) do(8, 9) do(10, 11) do(12, 13) do(14, 15)

static void call(void *function, struct registers *before, struct registers *after, long skew)
{
    register struct registers *x19 __asm__("x19") = after;
    register struct registers *x20 __asm__("x20") = before;
    register void *x21 __asm__("x21") = function;
    (void)skew;
    memcpy(after, before, sizeof *after);
    __asm__ volatile(EACH(LOAD_Q) LOW(LOAD_X) "ldr x18, [x20, #128]\n"
                     "blr x21\n"
                     EACH(STORE_Q) LOW(STORE_X) "str x18, [x19, #128]\n"
                     : "+r"(x19), "+r"(x20), "+r"(x21)
                     :
                     : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
                       "x15", "x16", "x17", "x18", "x30", "memory", "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6",
                       "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20",
                       "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

enum { RESULT = 0, SKEW = 0 };
#endif

/* For `changed`: the function answers nothing, or in the first vector. */
enum { NOTHING = -1, VECTOR = -2 };

/* What is in the registers before and after a call of a function that changes none but its result's. */
static long changed(void *function, uint64_t first, uint64_t second, int result, uint64_t expected, long skew)
{
    static struct registers before, after;
    uint64_t *words = (uint64_t *)&before;
    for (unsigned word = 0; word < sizeof before / 8; word++) {
        words[word] = 0x0101010101010101u * (word % 251 + 1);
    }
    before.general[0] = first;
    before.general[1] = second;
    call(function, &before, &after, skew);
    if (result == VECTOR) {
        long wrong = after.vectors[0][0] != expected;
        memcpy(after.vectors[0], before.vectors[0], sizeof before.vectors[0]);
        return wrong + (memcmp(&before, &after, sizeof before) != 0);
    }
    if (result >= 0) {
        long wrong = after.general[result] != expected;
        after.general[result] = before.general[result];
        return wrong + (memcmp(&before, &after, sizeof before) != 0);
    }
    return memcmp(&before, &after, sizeof before) != 0;
}

/* The functions themselves, written so that they change nothing but their result. */
#if defined(__x86_64__)
#define FUNCTION(name, body) \
    __asm__(".text; .p2align 4; .globl " #name "; .type " #name ", @function; .globl own_" #name \
            "; .hidden own_" #name "; own_" #name ": " #name ": .skip 16, 0x90; " body " ret; .size " #name ", . - " #name)
FUNCTION(aclrtGetRunMode, "movl $1, (%rdi); xorl %eax, %eax;");
FUNCTION(aclDestroyTensorDesc, "movl $2, (%rdi);");
FUNCTION(aclPlainlyNew, "movl $3, (%rdi); movl $7, %eax;");
FUNCTION(acldvppGetBorderConfigValue, "movsd (%rdi), %xmm0;");
#else
#define FUNCTION(name, body) \
    __asm__(".text; .p2align 4; .globl " #name "; .type " #name ", @function; .globl own_" #name \
            "; .hidden own_" #name "; own_" #name ": " #name ": nop; nop; nop; nop; " body " ret; .size " #name ", . - " #name)
FUNCTION(aclrtGetRunMode, "mov w16, #1; str w16, [x0]; mov w0, #0;");
FUNCTION(aclDestroyTensorDesc, "mov w16, #2; str w16, [x0];");
FUNCTION(aclPlainlyNew, "mov w16, #3; str w16, [x0]; mov w0, #7;");
FUNCTION(acldvppGetBorderConfigValue, "ldr d0, [x0];");
#endif
extern char own_aclrtGetRunMode[] __attribute__((visibility("hidden")));
extern char own_aclDestroyTensorDesc[] __attribute__((visibility("hidden")));
extern char own_aclPlainlyNew[] __attribute__((visibility("hidden")));

/* 0 if all registers are as they were. */
long inner_registers(void)
{
    long wrong = 0;
    static int mode;
    static double config = 2.5;
    uint64_t bits;
    memcpy(&bits, &config, sizeof bits);
    for (long skew = 0; skew <= SKEW; skew += 8) {
        uint64_t place = (uint64_t)(uintptr_t)&mode;
        wrong = wrong * 10 + changed(own_aclrtGetRunMode, place, 5, RESULT, 0, skew) + (mode != 1);
        wrong = wrong * 10 + changed(own_aclDestroyTensorDesc, place, 5, NOTHING, 0, skew) + (mode != 2);
        wrong = wrong * 10 + changed(own_aclPlainlyNew, place, 5, RESULT, 7, skew) + (mode != 3);
        place = (uint64_t)(uintptr_t)&config;
        wrong = wrong * 10 + changed((void *)own_acldvppGetBorderConfigValue, place, 5, VECTOR, bits, skew);
    }
    return wrong;
}
