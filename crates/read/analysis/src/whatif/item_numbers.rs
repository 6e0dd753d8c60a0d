//! The numbers in the recording of calls and of functions on the host, by place.

use std::collections::BTreeMap;

use super::event_log::{Reader, Tape};
use super::links::LanePosition;

/// The first and the last number of the calls of a place: a loop of queries is at one place.
type CallNumbers = (u32, u32);

#[derive(Debug, Default)]
pub(super) struct ItemNumbers {
    threads: Vec<ThreadNumbers>,
    functions: BTreeMap<LanePosition, u32>,
}

/// The numbers of the calls of a thread, in order: each record says how they differ from those before.
#[derive(Debug, Default)]
struct ThreadNumbers {
    tape: Tape,
    last: u32,
}

impl ItemNumbers {
    /// The next call of a thread.
    pub(super) fn add_call(&mut self, thread: usize, (first, last): CallNumbers) {
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, ThreadNumbers::default);
        }
        let own = &mut self.threads[thread];
        own.tape.begin();
        own.tape.put_signed(i64::from(first) - i64::from(own.last));
        own.tape.put_signed(i64::from(last) - i64::from(first));
        own.last = last;
    }

    pub(super) fn add_function(&mut self, place: LanePosition, number: u32) {
        self.functions.insert(place, number);
    }

    pub(super) fn function(&self, place: LanePosition) -> Option<u32> {
        self.functions.get(&place).copied()
    }

    /// The numbers of all calls of a thread, in order.
    pub(super) fn calls(&self, thread: usize) -> impl Iterator<Item = CallNumbers> {
        let own = self.threads.get(thread);
        let mut reader = own.map(|it| it.tape.reader());
        let mut before = 0;
        std::iter::from_fn(move || {
            let found = next(reader.as_mut()?, before)?;
            before = found.1;
            Some(found)
        })
    }
}

fn next(reader: &mut Reader<'_>, before: u32) -> Option<CallNumbers> {
    if !reader.next_record() {
        return None;
    }
    let first = i64::from(before) + reader.signed();
    let last = first + reader.signed();
    Some((first as u32, last as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::whatif::links::LaneCode;

    #[test]
    fn numbers_are_found_by_thread_and_place() {
        let mut numbers = ItemNumbers::default();
        let all = [
            (7, 7),
            (9, 12),
            (3, 3),
            (u32::MAX >> 1, u32::MAX >> 1),
            (0, 5),
        ];
        all.iter().for_each(|it| numbers.add_call(2, *it));
        numbers.add_call(0, (8, 8));
        assert_eq!(numbers.calls(2).collect::<Vec<_>>(), all);
        assert_eq!(numbers.calls(0).collect::<Vec<_>>(), [(8, 8)]);
        assert_eq!(numbers.calls(1).count() + numbers.calls(9).count(), 0);
        let place = LanePosition::new(LaneCode::stream(3), 4);
        numbers.add_function(place, 11);
        assert_eq!(numbers.function(place), Some(11));
    }
}
