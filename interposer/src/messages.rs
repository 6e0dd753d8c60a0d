//! Messages that one call sends to other ranks and receives from them.

use crate::described::{place, read};

/// More than a record has room for.
const MOST: u64 = 8;
/// Words of a message: its kind, its count, its data type and its rank.
const WORDS: usize = 4;

/// `HcclSendRecvItem`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Message {
    kind: i32,
    _buffer: usize,
    count: u64,
    data_type: i32,
    rank: u32,
}

impl Message {
    fn words(self) -> [i64; WORDS] {
        [
            self.kind.into(),
            self.count.cast_signed(),
            self.data_type.into(),
            self.rank.into(),
        ]
    }
}

/// The words of the messages in an array. `None` if the array is in no memory.
pub(crate) fn words(array: usize, count: u64) -> Option<impl Iterator<Item = i64>> {
    let read_at = move |index: u64| read::<Message>(place::<Message>(array, index as usize));
    let last = count.min(MOST).checked_sub(1);
    let is_there = last.is_none_or(|last| read_at(0).is_some() && read_at(last).is_some());
    let messages = (0..count.min(MOST)).map_while(read_at);
    is_there.then(|| messages.flat_map(Message::words))
}

/// Whether there are more messages.
pub(crate) fn is_cut(count: u64) -> bool {
    count > MOST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(count: u64) -> Vec<Message> {
        let message = |number: u64| Message {
            kind: (number % 2) as i32,
            _buffer: 4096,
            count: 1 << number,
            data_type: 4,
            rank: number as u32,
        };
        (0..count).map(message).collect()
    }

    fn words_of(messages: &[Message]) -> Option<Vec<i64>> {
        let found = words(messages.as_ptr() as usize, messages.len() as u64);
        found.map(Iterator::collect)
    }

    #[test]
    fn each_message_has_four_words() {
        let found = words_of(&messages(2)).expect("an array in memory");
        assert_eq!(found, [0, 1, 4, 0, 1, 2, 4, 1]);
        let found = words(0, 0).expect("no message needs no memory");
        assert_eq!(found.count(), 0);
    }

    #[test]
    fn many_messages_are_cut_and_no_memory_is_nothing() {
        let found = words_of(&messages(20)).expect("an array in memory");
        assert_eq!(found.len() as u64, MOST * WORDS as u64);
        assert!(is_cut(20) && !is_cut(8));
        assert!(words(0, 2).is_none());
    }
}
