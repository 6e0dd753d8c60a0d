//! Reading memory that may not be there: the stack above a caller's frame, and what words point to
//! that may be pointers.

mod file;

use core::ffi::c_void;

use crate::errno::Errno;
use crate::{syscall_policy, thread};

/// The smallest possible page: memory that begins in a page can be read to its end.
const PAGE: usize = 4096;

/// How many bytes from `stack` on can be read, up to as many as are wanted. A stack that is as small
/// as those of coroutines may end before.
#[inline]
pub(crate) fn readable(stack: usize, wanted: usize) -> usize {
    let left = PAGE - stack % PAGE;
    if left >= wanted {
        return wanted;
    }
    readable_across(stack, left, wanted)
}

#[cold]
fn readable_across(stack: usize, left: usize, wanted: usize) -> usize {
    let next = stack.wrapping_add(left);
    thread::with(|state| {
        if state.is_mapped(next) {
            return wanted;
        }
        let mut values = [None];
        match peek(&[next as u64], &mut values) {
            Ok(()) if values == [None] => left,
            // Without a way to check, it counts as mapped: stacks that end this soon are rare.
            _ => {
                state.set_mapped(next);
                wanted
            }
        }
    })
}

/// The same where nothing is known of the first byte either.
#[cold]
pub(crate) fn readable_from(address: usize, wanted: usize) -> usize {
    let mut length = 0;
    while length < wanted {
        let place = address.wrapping_add(length);
        let mut values = [None];
        match peek(&[place as u64 & !7], &mut values) {
            Ok(()) if values == [None] => return length,
            // Without a way to check, it counts as mapped: hardly any argument is not.
            _ => length += PAGE - place % PAGE,
        }
    }
    wanted
}

/// Addresses that are read at a time.
const BATCH: usize = 64;

/// There is no way to ask.
#[derive(Debug)]
pub(super) struct Refused;

/// Reads the word at each address; `None` for unreadable ones. Values that cannot be addresses are not
/// tried.
pub(super) fn peek(addresses: &[u64], values: &mut [Option<u64>]) -> Result<(), Refused> {
    if !syscall_policy::is_allowed() {
        return Err(Refused);
    }
    let _errno = Errno::save();
    copy(addresses, values).or_else(|Refused| file::read(addresses, values))
}

/// By the system call for that. Some containers forbid it.
fn copy(addresses: &[u64], values: &mut [Option<u64>]) -> Result<(), Refused> {
    for (addresses, values) in addresses.chunks(BATCH).zip(values.chunks_mut(BATCH)) {
        let mut from = 0;
        while let (Some(addresses), Some(values)) = (addresses.get(from..), values.get_mut(from..))
            && !addresses.is_empty()
        {
            from += 1 + read(addresses, values)?;
        }
    }
    Ok(())
}

/// Reads up to the first unreadable address; returns the number of read ones.
fn read(addresses: &[u64], values: &mut [Option<u64>]) -> Result<usize, Refused> {
    let nothing = libc::iovec {
        iov_base: core::ptr::null_mut(),
        iov_len: 0,
    };
    let mut words = [0u64; BATCH];
    let mut from = [nothing; BATCH];
    for (place, address) in from.iter_mut().zip(addresses) {
        if is_address(*address) {
            place.iov_base = *address as usize as *mut c_void;
            place.iov_len = size_of::<u64>();
        }
    }
    // A value that is no address has no bytes: it takes no room among the words.
    let into = libc::iovec {
        iov_base: words.as_mut_ptr().cast(),
        iov_len: size_of_val(&words),
    };
    let count = addresses.len().min(BATCH) as u64;
    // SAFETY: asks the kernel to copy from our own memory, which it checks, to a live local.
    let bytes = unsafe {
        libc::process_vm_readv(libc::getpid(), &raw const into, 1, from.as_ptr(), count, 0)
    };
    if bytes < 0 && Errno::now() != libc::EFAULT {
        return Err(Refused);
    }
    let mut read = words
        .iter()
        .take(usize::try_from(bytes).unwrap_or(0) / size_of::<u64>());
    for (index, (place, address)) in values.iter_mut().zip(addresses).enumerate() {
        if is_address(*address) {
            match read.next() {
                Some(word) => *place = Some(*word),
                None => return Ok(index),
            }
        }
    }
    Ok(addresses.len())
}

/// Whether a word may be the address of a word. Programs have no memory in the first 64 KiB.
pub(super) fn is_address(word: u64) -> bool {
    word >= 1 << 16 && word >> 56 == 0 && word.is_multiple_of(8)
}

#[cfg(test)]
mod tests {
    use super::super::STACK_BYTES;
    use super::*;

    type ReadWords = fn(&[u64], &mut [Option<u64>]) -> Result<(), Refused>;

    fn check(read: ReadWords) {
        let value = 77u64;
        let address = core::ptr::from_ref(&value) as u64;
        let addresses = [0, address, 1 << 40, address, 3, address + 1, 1 << 41];
        let mut values = [None; 7];
        read(&addresses, &mut values).unwrap();
        let expected = [None, Some(77), None, Some(77), None, None, None];
        assert_eq!(values, expected);
    }

    #[test]
    fn words_are_read_where_there_are_any() {
        check(peek);
    }

    #[test]
    fn words_are_read_as_a_file_where_the_system_call_is_forbidden() {
        check(file::read);
    }

    #[test]
    fn the_end_of_a_stack_is_found() {
        let both = 2 * PAGE;
        // SAFETY: a fresh mapping with a second page that is made unreadable.
        let base = unsafe {
            let base = libc::mmap(
                core::ptr::null_mut(),
                both,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_eq!(libc::munmap(base.wrapping_byte_add(PAGE), PAGE), 0);
            base as usize
        };
        assert_eq!(readable(base, STACK_BYTES), STACK_BYTES);
        assert_eq!(
            readable(base + PAGE - STACK_BYTES, STACK_BYTES),
            STACK_BYTES
        );
        assert_eq!(readable(base + PAGE - 48, STACK_BYTES), 48);
        let local = 0u64;
        let own = core::ptr::from_ref(&local) as usize & !15;
        assert_eq!(readable(own - PAGE, STACK_BYTES), STACK_BYTES);
        // SAFETY: the mapping made above.
        unsafe { libc::munmap(base as *mut c_void, PAGE) };
    }
}
