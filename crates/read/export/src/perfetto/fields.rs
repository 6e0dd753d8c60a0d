//! Field numbers of Perfetto's trace format (`protos/perfetto/trace` in its repository), as far as
//! they are used here.

pub(super) mod trace {
    pub(crate) const PACKET: u32 = 1;
}

pub(super) mod packet {
    pub(crate) const CLOCK_SNAPSHOT: u32 = 6;
    pub(crate) const TIMESTAMP: u32 = 8;
    pub(crate) const SEQUENCE_ID: u32 = 10;
    pub(crate) const TRACK_EVENT: u32 = 11;
    pub(crate) const INTERNED_DATA: u32 = 12;
    pub(crate) const SEQUENCE_FLAGS: u32 = 13;
    pub(crate) const TIMESTAMP_CLOCK_ID: u32 = 58;
    /// In [`DEFAULTS`].
    pub(crate) const EVENT_DEFAULTS: u32 = 11;
    pub(crate) const DEFAULTS: u32 = 59;
    pub(crate) const TRACK_DESCRIPTOR: u32 = 60;
    pub(crate) const FIRST_ON_SEQUENCE: u32 = 87;

    /// Values of [`SEQUENCE_FLAGS`].
    pub(crate) const STATE_CLEARED: u64 = 1;
    pub(crate) const NEEDS_STATE: u64 = 2;
}

pub(super) mod event {
    pub(crate) const CATEGORY_IID: u32 = 3;
    pub(crate) const ANNOTATION: u32 = 4;
    pub(crate) const TYPE: u32 = 9;
    pub(crate) const NAME_IID: u32 = 10;
    pub(crate) const TRACK_UUID: u32 = 11;
    pub(crate) const COUNTER_VALUE: u32 = 30;
    pub(crate) const FLOW_ID: u32 = 47;
    pub(crate) const TERMINATING_FLOW_ID: u32 = 48;

    /// Values of [`TYPE`].
    pub(crate) const SLICE_BEGIN: u64 = 1;
    pub(crate) const SLICE_END: u64 = 2;
    pub(crate) const INSTANT: u64 = 3;
    pub(crate) const COUNTER: u64 = 4;
}

pub(super) mod annotation {
    pub(crate) const NAME_IID: u32 = 1;
    pub(crate) const BOOL: u32 = 2;
    pub(crate) const UINT: u32 = 3;
    pub(crate) const INT: u32 = 4;
    pub(crate) const DOUBLE: u32 = 5;
    pub(crate) const STRING: u32 = 6;
    pub(crate) const POINTER: u32 = 7;
    pub(crate) const STRING_IID: u32 = 17;
}

pub(super) mod interned {
    pub(crate) const CATEGORY: u32 = 1;
    pub(crate) const EVENT_NAME: u32 = 2;
    pub(crate) const ANNOTATION_NAME: u32 = 3;
    pub(crate) const ANNOTATION_STRING: u32 = 29;
    /// In each entry.
    pub(crate) const IID: u32 = 1;
    pub(crate) const TEXT: u32 = 2;
}

pub(super) mod track {
    pub(crate) const UUID: u32 = 1;
    pub(crate) const NAME: u32 = 2;
    pub(crate) const PROCESS: u32 = 3;
    pub(crate) const THREAD: u32 = 4;
    pub(crate) const PARENT: u32 = 5;
    pub(crate) const COUNTER: u32 = 8;
    pub(crate) const CHILD_ORDERING: u32 = 11;
    pub(crate) const ORDER: u32 = 12;
    pub(crate) const PROCESS_ORDERING: u32 = 19;
    pub(crate) const THREAD_ORDERING: u32 = 20;

    /// Value of [`CHILD_ORDERING`]: by [`ORDER`].
    pub(crate) const EXPLICIT: u64 = 3;
    /// The same of [`PROCESS_ORDERING`] and [`THREAD_ORDERING`].
    pub(crate) const EXPLICIT_ORDERING: u64 = 1;

    /// Of a process.
    pub(crate) const PROCESS_PID: u32 = 1;
    pub(crate) const PROCESS_COMMAND: u32 = 2;
    pub(crate) const PROCESS_NAME: u32 = 6;
    /// Of a thread.
    pub(crate) const THREAD_PID: u32 = 1;
    pub(crate) const THREAD_TID: u32 = 2;
    pub(crate) const THREAD_NAME: u32 = 5;
    /// Of a counter.
    pub(crate) const UNIT_NAME: u32 = 6;
}

pub(super) mod clock {
    /// Of a snapshot.
    pub(crate) const CLOCK: u32 = 1;
    pub(crate) const PRIMARY: u32 = 2;
    /// Of a clock in it.
    pub(crate) const ID: u32 = 1;
    pub(crate) const TIME: u32 = 2;
    pub(crate) const IS_INCREMENTAL: u32 = 3;

    /// Clocks that Perfetto knows.
    pub(crate) const REALTIME: u64 = 1;
    pub(crate) const MONOTONIC: u64 = 3;
    pub(crate) const BOOTTIME: u64 = 6;
    /// The first of those that a sequence has for itself.
    pub(crate) const OWN: u64 = 64;
}
