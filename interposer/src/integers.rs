//! Arrays of integers that a call reads, such as the dimensions of a tensor, single values, and what a communicator is
//! known by, as texts.

use core::fmt::{self, Write};

use ascend_trace_format::api::{ArgKind, RetKind};
use ascend_trace_format::fnv;
use ascend_trace_format::record::MAX_STRING;

use crate::returned::CallRecord;
use crate::{given, scalars};

/// More than any tensor has dimensions.
const MOST: u64 = 16;

/// A root info begins with an address (64 bytes), a port, a kind of network and an identifier (128 bytes), in all releases
/// of the open library. Nobody sets most of what follows.
const ROOT_INFO: usize = 64 + 4 + 4 + 128;

/// What ends a list that is told in part.
const REST: &str = ", …]";

/// A list of numbers like `[4, 2]`, or one value.
pub(crate) struct List {
    bytes: [u8; MAX_STRING],
    length: usize,
}

/// The argument of a call that a text is made of; a function has no more than one. `None` without one, and when the
/// call failed: the argument may be why.
pub(crate) fn of(record: &CallRecord<'_>) -> Option<List> {
    let (function, call) = (record.function, &record.call);
    let mut args = function.args.iter().zip(call.args);
    let (arg, address) =
        args.find(|(arg, _)| arg.kind.is_text() && arg.kind != ArgKind::String && !arg.out)?;
    let succeeded = match function.ret {
        RetKind::Error => call.result == 0,
        RetKind::Pointer => call.result != 0,
        _ => true,
    };
    if !succeeded {
        return None;
    }
    if arg.kind == ArgKind::RootInfo {
        return root_info(*address as usize);
    }
    let count = *call.args.get(usize::from(arg.count?))?;
    if *address == 0 && (count > 0 || arg.kind == ArgKind::Scalar) {
        return None;
    }
    if arg.kind == ArgKind::Scalar {
        return scalar(*address as usize, count);
    }
    let bytes = count.min(MOST) as usize * size_of::<i64>();
    if !given::is_there(*address as usize, bytes) {
        return None;
    }
    // SAFETY: the call has read so many numbers from the address, and succeeded.
    let value = |index: u64| unsafe {
        let place = (*address as usize as *const i64).wrapping_add(index as usize);
        core::ptr::read_unaligned(place)
    };
    Some(List::of((0..count.min(MOST)).map(value), count > MOST))
}

/// The value at an address, of a data type.
fn scalar(address: usize, data_type: u64) -> Option<List> {
    let width = scalars::width(data_type)?;
    if !given::is_there(address, width) {
        return None;
    }
    let mut bytes = [0; 8];
    for (place, byte) in bytes.iter_mut().enumerate().take(width) {
        // SAFETY: the call has read a value of this width from the address, and succeeded.
        *byte = unsafe { core::ptr::read((address as *const u8).wrapping_add(place)) };
    }
    let mut text = List::empty();
    scalars::write(&mut text, data_type, u64::from_le_bytes(bytes)).ok()?;
    Some(text)
}

/// A digest of what a root info begins with.
fn root_info(address: usize) -> Option<List> {
    if address == 0 || !given::is_there(address, ROOT_INFO) {
        return None;
    }
    // SAFETY: a root info is larger, and the call has read it, and succeeded.
    let bytes = unsafe { core::slice::from_raw_parts(address as *const u8, ROOT_INFO) };
    let mut text = List::empty();
    write!(text, "{:016x}", fnv::hash(bytes)).ok()?;
    Some(text)
}

impl List {
    fn empty() -> Self {
        Self {
            bytes: [0; MAX_STRING],
            length: 0,
        }
    }

    /// A list, of which there may be more. What does not fit is left out.
    fn of(values: impl Iterator<Item = i64>, is_part: bool) -> Self {
        let mut list = Self::empty();
        let mut end = if is_part { REST } else { "]" };
        // These fit: the room for the end is kept free.
        let _ = list.write_str("[");
        let mut separator = "";
        for value in values {
            let before = list.length;
            if write!(list, "{separator}{value}").is_err() || list.room() < REST.len() {
                list.length = before;
                end = REST;
                break;
            }
            separator = ", ";
        }
        let _ = list.write_str(end);
        list
    }

    fn room(&self) -> usize {
        MAX_STRING - self.length
    }

    pub(crate) fn text(&self) -> Option<&[u8]> {
        self.bytes.get(..self.length)
    }
}

impl Write for List {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        let place = self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(values: impl Iterator<Item = i64>, is_part: bool) -> String {
        let list = List::of(values, is_part);
        String::from_utf8(list.text().unwrap().to_vec()).unwrap()
    }

    #[test]
    fn a_list_is_told_as_far_as_it_fits() {
        assert_eq!(text([4, 2, -1].into_iter(), false), "[4, 2, -1]");
        assert_eq!(text([].into_iter(), false), "[]");
        assert_eq!(text([1, 2].into_iter(), true), "[1, 2, …]");
        for count in 0..=16 {
            let long = text((0..count).map(|_| i64::MIN), false);
            assert!(long.len() <= MAX_STRING && long.ends_with(']'), "{long}");
            let shown = long.matches("-9223372036854775808").count();
            assert_eq!(shown as i64, count.min(5), "{long}");
            assert_eq!(long.contains('…'), count > 5);
        }
    }
}
