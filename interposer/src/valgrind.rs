//! Requests to valgrind when the program runs under it. A request is a sequence of instructions that
//! valgrind knows; a processor executes it without effect.

/// How valgrind calls a stack; elsewhere 0, which it is not asked about.
#[derive(Clone, Copy)]
pub(crate) struct Stack(usize);

const REGISTER_STACK: usize = 0x1501;
const DEREGISTER_STACK: usize = 0x1502;

/// Tells it of the stack from `low` to `high`.
pub(crate) fn tell(low: usize, high: usize) -> Stack {
    Stack(request(&[REGISTER_STACK, low, high, 0, 0, 0]))
}

/// A stack is no more.
pub(crate) fn forget(stack: Stack) {
    request(&[DEREGISTER_STACK, stack.0, 0, 0, 0, 0]);
}

/// Valgrind's result, 0 without it.
#[cfg(target_arch = "x86_64")]
fn request(words: &[usize; 6]) -> usize {
    let mut answer = 0usize;
    // SAFETY: a register is rotated by 128 bits in total and another exchanged with itself, which
    // changes neither; valgrind reads the words and changes only the result.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") words.as_ptr(),
            inout("rdx") answer,
            options(nostack),
        );
    }
    answer
}

/// As above.
#[cfg(target_arch = "aarch64")]
fn request(words: &[usize; 6]) -> usize {
    let mut answer = 0usize;
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "ror x12, x12, #3",
            "ror x12, x12, #13",
            "ror x12, x12, #51",
            "ror x12, x12, #61",
            "orr x10, x10, x10",
            in("x4") words.as_ptr(),
            inout("x3") answer,
            options(nostack),
        );
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_valgrind_no_request_has_a_result() {
        let stack = tell(0x1000, 0x2000);
        forget(stack);
        assert_eq!(stack.0, 0);
    }
}
