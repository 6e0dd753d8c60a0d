/* A library of AscendCL by its file name, whose functions call each other without the dynamic
 * linker, and have begins of all kinds. The numbers that they answer tell them apart. */

#define PATCHABLE __attribute__((noinline, patchable_function_entry(16)))
/* A second name that the dynamic linker does not know, for calls inside the library. */
#define OWN(name) extern __typeof__(name) own_##name __attribute__((visibility("hidden"), alias(#name)))

PATCHABLE int aclrtGetDevice(int *device)
{
    *device = 41;
    return 0;
}
OWN(aclrtGetDevice);

int inner_get_device(void)
{
    int device = 0;
    own_aclrtGetDevice(&device);
    return device;
}

/* The public function is a jump to its body, as CANN's are. */
PATCHABLE int aclrtSetDeviceImpl(int device)
{
    return device == 1 ? 0 : 107001;
}

/* Two functions with one body. */
PATCHABLE int shared_body(void *argument)
{
    return argument ? 5 : 6;
}

int helper(void)
{
    return 9;
}

#if defined(__x86_64__)
#define FORWARD(name, target) \
    __asm__(".text; .p2align 4; .globl " #name "; .type " #name ", @function; " \
            ".globl own_" #name "; .hidden own_" #name "; own_" #name ": " #name ": " \
            "jmp " #target "@PLT; .size " #name ", . - " #name)
/* Adds 1 .. argument, with the loop's head in the first bytes. */
__asm__(".text; .p2align 4; .globl aclrtResetDevice; .type aclrtResetDevice, @function;"
        ".globl own_aclrtResetDevice; .hidden own_aclrtResetDevice; own_aclrtResetDevice: aclrtResetDevice: xor %eax, %eax; 1: add %edi, %eax; dec %edi; jnz 1b; .skip 16, 0x90; ret;"
        ".size aclrtResetDevice, . - aclrtResetDevice");
__asm__(".text; .p2align 4; .globl aclFinalize; .type aclFinalize, @function;"
        ".globl own_aclFinalize; .hidden own_aclFinalize; own_aclFinalize: aclFinalize: xor %eax, %eax; ret; .size aclFinalize, . - aclFinalize");
__asm__(".text; .p2align 4; .globl aclrtSynchronizeDevice; .type aclrtSynchronizeDevice, @function;"
        ".globl own_aclrtSynchronizeDevice; .hidden own_aclrtSynchronizeDevice; own_aclrtSynchronizeDevice: aclrtSynchronizeDevice: push %rbx; call helper@PLT; pop %rbx; .skip 16, 0x90; ret;"
        ".size aclrtSynchronizeDevice, . - aclrtSynchronizeDevice");
#elif defined(__aarch64__)
#define FORWARD(name, target) \
    __asm__(".text; .p2align 4; .globl " #name "; .type " #name ", @function; " \
            ".globl own_" #name "; .hidden own_" #name "; own_" #name ": " #name ": " \
            "b " #target "; .size " #name ", . - " #name)
__asm__(".text; .p2align 4; .globl aclrtResetDevice; .type aclrtResetDevice, @function;"
        ".globl own_aclrtResetDevice; .hidden own_aclrtResetDevice; own_aclrtResetDevice: aclrtResetDevice: mov w1, w0; mov w0, #0; 1: add w0, w0, w1; subs w1, w1, #1; b.ne 1b; nop; ret;"
        ".size aclrtResetDevice, . - aclrtResetDevice");
__asm__(".text; .p2align 4; .globl aclFinalize; .type aclFinalize, @function;"
        ".globl own_aclFinalize; .hidden own_aclFinalize; own_aclFinalize: aclFinalize: mov w0, #0; ret; .size aclFinalize, . - aclFinalize");
__asm__(".text; .p2align 4; .globl aclrtSynchronizeDevice; .type aclrtSynchronizeDevice, @function;"
        ".globl own_aclrtSynchronizeDevice; .hidden own_aclrtSynchronizeDevice; own_aclrtSynchronizeDevice: aclrtSynchronizeDevice: stp x29, x30, [sp, #-16]!; bl helper; ldp x29, x30, [sp], #16; nop; ret;"
        ".size aclrtSynchronizeDevice, . - aclrtSynchronizeDevice");
#endif

FORWARD(aclrtSetDevice, aclrtSetDeviceImpl);
FORWARD(aclrtGetDeviceCount, shared_body);
FORWARD(aclrtGetRunMode, shared_body);

#define HIDDEN __attribute__((visibility("hidden")))
int own_aclrtSetDevice(int) HIDDEN;
int own_aclrtGetDeviceCount(void *) HIDDEN;
int own_aclrtGetRunMode(void *) HIDDEN;
int own_aclrtResetDevice(int) HIDDEN;
int own_aclFinalize(void) HIDDEN;
int own_aclrtSynchronizeDevice(void) HIDDEN;

int inner_set_device(int device)
{
    return own_aclrtSetDevice(device);
}

/* All that an engine must leave alone, by calls that only a patch would see. */
int inner_others(void)
{
    return own_aclrtGetDeviceCount(0) + 10 * own_aclrtGetRunMode(&helper) + 100 * own_aclrtResetDevice(4)
        + 10000 * own_aclFinalize() + 100000 * own_aclrtSynchronizeDevice();
}

/* Calls a function of the program, which may never return here. */
PATCHABLE int aclrtGetVersion(int *major, int *minor, int *patch)
{
    void (*leave)(void) = (void (*)(void))(void *)major;
    (void)minor;
    (void)patch;
    leave();
    return 0;
}
OWN(aclrtGetVersion);

int inner_leave(void (*leave)(void))
{
    return own_aclrtGetVersion((int *)(void *)leave, 0, 0);
}
