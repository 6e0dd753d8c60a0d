//! The layout of an interpreter's memory, by its version.

use super::lines::Table;
use crate::loader::object::Object;

/// In all objects: the type; the number of elements of those that have some; the bytes of `bytes`.
pub(super) const TYPE: usize = 8;
pub(super) const SIZE: usize = 16;
pub(super) const BYTES: usize = 32;
/// In texts: the hash, once it has been computed.
pub(super) const HASH: usize = 24;
pub(super) const NO_HASH: usize = usize::MAX;
/// The owner of a frame that represents a native function, in 3.12 and 3.13.
pub(super) const OF_NATIVE: u8 = 3;

/// Distances in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Of a thread's state: its interpreter, its `pthread_t`, and its innermost frame unless there is `native`.
    pub(super) interpreter: usize,
    pub(super) thread_id: usize,
    pub(super) frame: usize,
    pub(super) native: Option<Native>,
    /// Of a frame: its caller's, its code object, and where it is in it.
    pub(super) previous: usize,
    pub(super) code: usize,
    pub(super) instruction: usize,
    /// Frames are objects, each in a native function, which the end of an interpreter leaves alone.
    pub(super) is_object: bool,
    /// A byte that says whether it is the first one of its native function.
    pub(super) is_entry: Option<usize>,
    /// The byte with its owner.
    pub(super) owner: Option<usize>,
    /// Of a code object: its instructions, if frames have their addresses. Otherwise they have indices of
    /// instructions of `unit` bytes.
    pub(super) instructions: Option<usize>,
    pub(super) unit: u32,
    pub(super) name: usize,
    pub(super) file: usize,
    pub(super) first_line: usize,
    pub(super) lines: usize,
    pub(super) table: Table,
    /// Of a text: where its characters are if all are ASCII, and if not.
    pub(super) ascii: usize,
    pub(super) compact: usize,
}

/// Stack data of a native function that runs Python code, in 3.11 and 3.12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Native {
    /// Where a thread's state has the innermost one.
    pub(super) of_thread: usize,
    pub(super) frame: usize,
    pub(super) previous: usize,
}

/// 3.8 and 3.9.
const V3_8: Layout = Layout {
    interpreter: 16,
    thread_id: 176,
    frame: 24,
    native: None,
    previous: 24,
    code: 32,
    instruction: 104,
    is_object: true,
    is_entry: None,
    owner: None,
    instructions: None,
    unit: 1,
    name: 112,
    file: 104,
    first_line: 40,
    lines: 120,
    table: Table::Pairs,
    ascii: 48,
    compact: 72,
};

const V3_10: Layout = Layout {
    instruction: 96,
    unit: 2,
    table: Table::Ranges,
    ..V3_8
};

const V3_11: Layout = Layout {
    thread_id: 152,
    native: Some(Native {
        of_thread: 56,
        frame: 8,
        previous: 16,
    }),
    previous: 48,
    code: 32,
    instruction: 56,
    is_object: false,
    is_entry: Some(68),
    instructions: Some(184),
    name: 128,
    file: 112,
    first_line: 72,
    lines: 136,
    table: Table::Locations,
    ..V3_10
};

const V3_12: Layout = Layout {
    thread_id: 136,
    native: Some(Native {
        of_thread: 56,
        frame: 0,
        previous: 8,
    }),
    previous: 8,
    code: 0,
    is_entry: None,
    owner: Some(70),
    instructions: Some(192),
    first_line: 68,
    ascii: 40,
    compact: 56,
    ..V3_11
};

const V3_13: Layout = Layout {
    thread_id: 152,
    frame: 72,
    native: None,
    instructions: Some(200),
    ..V3_12
};

/// Words of `_PyRuntime` in 3.13 that say where things lie.
const OFFSETS: usize = 46;
const COOKIE: &[u8; 8] = b"xdebugpy";

impl Layout {
    /// That of an interpreter in this object; `None` of a version that is not known.
    pub(super) fn of(object: &Object<'_>) -> Option<Self> {
        let Some(version) = object.data(c"Py_Version") else {
            // Functions that came with 3.10 and with 3.8.
            return match (
                object.function(c"Py_NewRef"),
                object.function(c"PyCode_NewWithPosOnlyArgs"),
            ) {
                (Some(_), _) => Some(V3_10),
                (None, Some(_)) => Some(V3_8),
                (None, None) => None,
            };
        };
        let bytes = object.readable_from(version)?.first_chunk()?;
        match u64::from_ne_bytes(*bytes) >> 16 {
            0x030b => Some(V3_11),
            0x030c => Some(V3_12),
            0x030d => {
                let runtime = object.readable_from(object.data(c"_PyRuntime")?)?;
                let (words, _) = runtime.as_chunks::<8>();
                Self::by_offsets(words.first_chunk()?, u64::from_ne_bytes(*bytes))
            }
            _ => None,
        }
    }

    /// From the offsets in a 3.13.
    fn by_offsets(words: &[[u8; 8]; OFFSETS], version: u64) -> Option<Self> {
        let at = |index: usize| {
            let word = words
                .get(index)
                .map_or(u64::MAX, |it| u64::from_ne_bytes(*it));
            usize::try_from(word).ok().filter(|it| *it < 4096)
        };
        let is_known = words[0] == *COOKIE && u64::from_ne_bytes(words[1]) == version;
        // Without the lock of the interpreter, objects look different.
        if !is_known || at(2)? != 0 {
            return None;
        }
        let is_same = at(44)? == 16 && at(45)? == TYPE;
        is_same.then_some(())?;
        Some(Self {
            interpreter: at(22)?,
            frame: at(23)?,
            thread_id: at(24)?,
            previous: at(29)?,
            code: at(30)?,
            instruction: at(31)?,
            owner: Some(at(33)?),
            file: at(35)?,
            name: at(37)?,
            lines: at(38)?,
            first_line: at(39)?,
            instructions: Some(at(43)?),
            ..V3_13
        })
    }
}
