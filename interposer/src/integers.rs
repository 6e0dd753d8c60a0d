//! Texts of arrays of integers that a call reads, such as the dimensions of a tensor, of single values,
//! of blocks of memory, of messages, and of a communicator's identity.

use core::fmt::{self, Write};

use ascend_trace_format::api::{ArgKind, ArgPart, RetKind};
use ascend_trace_format::fnv;
use ascend_trace_format::record::MAX_STRING;

use crate::blocks::BlockWords;
use crate::call_record::CallRecord;
use crate::{messages, readable_memory, scalars};

/// More than any tensor has dimensions.
const MOST: u64 = 16;

/// A root info begins with an address (64 bytes), a port, a kind of network and an identifier (128
/// bytes), in all releases of the open library. Most of the rest is never set.
const ROOT_INFO: usize = 64 + 4 + 4 + 128;

/// Text between the dimensions and the strides of a tensor.
const STRIDES: &str = " strides ";

/// End of a list that is cut.
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
    if arg.kind.is_of_blocks() {
        // Such calls return nothing without a tool of the vendor's.
        let words = BlockWords::of(arg.kind, *address as usize)?;
        return Some(List::of(words.iter(), words.is_cut));
    }
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
    if arg.kind == ArgKind::Messages {
        let words = messages::words(*address as usize, count)?;
        return Some(List::of(words, messages::is_cut(count)));
    }
    let numbers = Numbers::at(*address as usize, count)?;
    let strides = function.part(ArgPart::Strides);
    let strides = strides.and_then(|at| call.args.get(usize::from(at)));
    let strides = match strides {
        // Without them, the elements lie one after another.
        None | Some(0) => None,
        Some(strides) => Some(Numbers::at(*strides as usize, count)?),
    };
    List::of_numbers(numbers, strides)
}

/// Numbers in the program's memory.
#[derive(Clone, Copy)]
struct Numbers {
    address: usize,
    count: u64,
}

impl Numbers {
    /// Only for arrays that a successful call has read. `None` without memory.
    fn at(address: usize, count: u64) -> Option<Self> {
        let bytes = count.min(MOST) as usize * size_of::<i64>();
        readable_memory::is_there(address, bytes).then_some(Self { address, count })
    }

    fn is_cut(self) -> bool {
        self.count > MOST
    }

    fn iter(self) -> impl DoubleEndedIterator<Item = i64> {
        (0..self.count.min(MOST) as usize).map(move |index| {
            let place = (self.address as *const i64).wrapping_add(index);
            // SAFETY: the memory is mapped, and the call has read this many numbers from it.
            unsafe { core::ptr::read_unaligned(place) }
        })
    }
}

/// Whether elements with these strides lie one after another.
fn are_plain(dimensions: Numbers, strides: Numbers) -> bool {
    let mut next: i64 = 1;
    let mut pairs = dimensions.iter().rev().zip(strides.iter().rev());
    let is_empty = dimensions.iter().any(|size| size == 0);
    is_empty
        || pairs.all(|(size, stride)| {
            let is_next = size == 1 || stride == next;
            next = next.wrapping_mul(size);
            is_next
        })
}

/// The value at an address, of a data type.
fn scalar(address: usize, data_type: u64) -> Option<List> {
    let width = scalars::width(data_type)?;
    if !readable_memory::is_there(address, width) {
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

/// A digest of the begin of a root info.
fn root_info(address: usize) -> Option<List> {
    if address == 0 || !readable_memory::is_there(address, ROOT_INFO) {
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

    /// The dimensions of a tensor, and its strides where its elements do not lie one after another. `None` where not even
    /// a part of the strides fits: such a tensor would look like another one.
    fn of_numbers(dimensions: Numbers, strides: Option<Numbers>) -> Option<Self> {
        let mut list = Self::of(dimensions.iter(), dimensions.is_cut());
        let strides = strides.filter(|it| !are_plain(dimensions, *it));
        if let Some(strides) = strides {
            let shown = Self::of(strides.iter(), strides.is_cut());
            let before = list.length;
            let fits = list.write_str(STRIDES).is_ok()
                && shown.text().is_some_and(|text| list.append(text).is_some());
            if !fits {
                list.length = before;
                list.write_str(STRIDES).ok()?;
                list.append(REST.as_bytes())?;
            }
        }
        Some(list)
    }

    fn append(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.length + bytes.len();
        self.bytes.get_mut(self.length..end)?.copy_from_slice(bytes);
        self.length = end;
        Some(())
    }

    /// A list, possibly cut. Values that do not fit are left out.
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
        self.append(text.as_bytes()).ok_or(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(values: impl Iterator<Item = i64>, is_part: bool) -> String {
        let list = List::of(values, is_part);
        String::from_utf8(list.text().unwrap().to_vec()).unwrap()
    }

    fn tensor(dimensions: &[i64], strides: &[i64]) -> Option<String> {
        let numbers = |of: &[i64]| Numbers {
            address: of.as_ptr() as usize,
            count: of.len() as u64,
        };
        let list = List::of_numbers(numbers(dimensions), Some(numbers(strides)))?;
        Some(String::from_utf8(list.text().unwrap().to_vec()).unwrap())
    }

    #[test]
    fn strides_are_recorded_where_they_are_not_obvious() {
        let reported = |dimensions: &[i64], strides: &[i64]| tensor(dimensions, strides).unwrap();
        assert_eq!(reported(&[4, 2], &[2, 1]), "[4, 2]");
        assert_eq!(reported(&[4, 2], &[1, 4]), "[4, 2] strides [1, 4]");
        assert_eq!(reported(&[4, 1, 3], &[3, 77, 1]), "[4, 1, 3]");
        assert_eq!(reported(&[0, 5], &[9, 9]), "[0, 5]");
        assert_eq!(reported(&[2, 5], &[0, 1]), "[2, 5] strides [0, 1]");
        assert_eq!(reported(&[], &[]), "[]");
    }

    #[test]
    fn strides_that_do_not_fit_are_missed() {
        for count in 1..=16 {
            let (dimensions, strides) = (vec![i64::MAX; count], vec![i64::MIN; count]);
            let Some(text) = tensor(&dimensions, &strides) else {
                assert!(count > 4, "{count}");
                continue;
            };
            assert!(text.len() <= MAX_STRING, "{text}");
            assert!(text.contains(" strides ") && text.ends_with(']'), "{text}");
            assert!(count < 4 || text.contains('…'), "{text}");
        }
    }

    #[test]
    fn a_list_is_recorded_as_far_as_it_fits() {
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
