//! Making and changing code.

use core::ffi::c_void;
use std::sync::Mutex;

const WRITABLE: i32 = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
/// Bytes of one piece of memory for code.
const PIECE: usize = 1 << 20;

/// A jump to any address, which changes no register that calls use.
#[cfg(target_arch = "x86_64")]
pub(crate) fn jump(target: usize) -> [u8; 14] {
    let mut code = [0xff, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    code[6..].copy_from_slice(&target.to_le_bytes());
    code
}

/// As above: `ldr x17, +8; br x17`, and the address.
#[cfg(target_arch = "aarch64")]
pub(crate) fn jump(target: usize) -> [u8; 16] {
    let mut code = [0; 16];
    code[..4].copy_from_slice(&0x5800_0051u32.to_le_bytes());
    code[4..8].copy_from_slice(&0xd61f_0220u32.to_le_bytes());
    code[8..].copy_from_slice(&target.to_le_bytes());
    code
}

/// The piece that is being filled: its address, and the number of used bytes.
static CURRENT: Mutex<(usize, usize)> = Mutex::new((0, PIECE));

/// Keeps executable code until the process ends. `make` returns the code for its address, at most
/// `most` bytes. `None` without code or memory.
pub(crate) fn keep(most: usize, make: impl FnOnce(usize) -> Option<Vec<u8>>) -> Option<usize> {
    let mut current = CURRENT.lock().unwrap_or_else(|error| error.into_inner());
    if current.1 + most > PIECE {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a fresh mapping at an address of the kernel's choice.
        let piece = unsafe { libc::mmap(core::ptr::null_mut(), PIECE, WRITABLE, flags, -1, 0) };
        if piece == libc::MAP_FAILED {
            return None;
        }
        *current = (piece as usize, 0);
    }
    let address = current.0 + current.1;
    let code = make(address).filter(|code| code.len() <= most)?;
    current.1 += code.len().next_multiple_of(16);
    // SAFETY: unused room in our mapping.
    unsafe { core::ptr::copy_nonoverlapping(code.as_ptr(), address as *mut u8, code.len()) };
    synchronise(address, code.len());
    Some(address)
}

/// Changes code where it is. Like Gum, this leaves it writable.
pub(crate) fn overwrite(address: usize, code: &[u8]) {
    // SAFETY: asks for a constant of the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let start = address & !(page - 1);
    let end = (address + code.len()).next_multiple_of(page);
    // SAFETY: no thread runs the code of the function, which is about to be replaced.
    unsafe {
        if libc::mprotect(start as *mut c_void, end - start, WRITABLE) == 0 {
            core::ptr::copy_nonoverlapping(code.as_ptr(), address as *mut u8, code.len());
        }
    }
    synchronise(address, code.len());
}

/// Makes processors fetch the code again.
#[cfg(target_arch = "aarch64")]
fn synchronise(address: usize, length: usize) {
    // The smallest lines there are.
    for line in (address & !15..address + length).step_by(16) {
        // SAFETY: cleans and drops cached copies of mapped memory.
        unsafe {
            core::arch::asm!("dc cvau, {line}", "dsb ish", "ic ivau, {line}", line = in(reg) line);
        }
    }
    // SAFETY: waits for the above.
    unsafe { core::arch::asm!("dsb ish", "isb") };
}

#[cfg(target_arch = "x86_64")]
fn synchronise(_: usize, _: usize) {}
