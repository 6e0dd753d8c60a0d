/* A library of AscendCL with a function whose first 16 bytes end a page, and that calls it by its address, which
 * processors that guard indirect jumps check. To be linked so that they do. */
#if defined(__x86_64__)
__asm__(".text; .p2align 12; .skip 4096 - 16, 0x90; .globl aclrtGetDevice; .type aclrtGetDevice, @function;"
        ".globl own_aclrtGetDevice; .hidden own_aclrtGetDevice;"
        "own_aclrtGetDevice: aclrtGetDevice: endbr64; .skip 12, 0x90; movl $41, (%rdi); xor %eax, %eax; ret;"
        ".size aclrtGetDevice, . - aclrtGetDevice; .p2align 12");
#elif defined(__aarch64__)
__asm__(".text; .p2align 12; .skip 4096 - 16; .globl aclrtGetDevice; .type aclrtGetDevice, @function;"
        ".globl own_aclrtGetDevice; .hidden own_aclrtGetDevice;"
        "own_aclrtGetDevice: aclrtGetDevice: hint #34; nop; nop; nop; mov w1, #41; str w1, [x0]; mov w0, #0; ret;"
        ".size aclrtGetDevice, . - aclrtGetDevice; .p2align 12");
#endif
int own_aclrtGetDevice(int *) __attribute__((visibility("hidden")));

int (*volatile inner)(int *) = own_aclrtGetDevice;

int inner_get_device(void)
{
    int device = 0;
    return inner(&device) + device;
}
