//! Records that are in the trace file as they come: the declaration of each makes the record, the row of the
//! file and its columns, and the way from one to the other.

/// Passes the declarations of such records to a macro, after the content of the braces:
///
/// ```text
/// /// A record of this kind.
/// Record Row = code b"KIND", class of bytes in memory {
///     /// The meaning of the field, and its unit.
///     field: type,
/// }
/// ```
///
/// The record is published with the code, and the row is in chunks of the kind, behind a column for
/// the process. `entity` rows are found by the index of a long file, and a part of it is shown with all of
/// them; `figure` rows are summed up there. A row takes about this number of bytes in memory, with its entry in tables.
#[macro_export]
macro_rules! verbatim_records {
    ($with:ident { $($own:tt)* }) => {
        $with! {
            { $($own)* }

            /// A context. A later row with the same serial replaces the earlier one; so for streams and
            /// events.
            Context ContextRow = 5 b"CTXT", entity of 96 {
                /// serial: never reused within the process; so for streams and events
                serial: u32,
                /// device
                device: u32,
                /// handle
                handle: u64,
                /// 1: it is a device's default context
                is_default: bool,
            }

            /// A stream. Sent again when more becomes known.
            Stream StreamRow = 3 b"STRM", entity of 256 {
                /// serial
                serial: u32,
                /// serial of its context
                context: u32,
                /// device
                device: u32,
                /// handle
                handle: u64,
                /// id, as `aclrtStreamGetId` returns it
                acl_id: Option<i32>,
                /// creation flags
                flags: u32,
                /// priority
                priority: u32,
                /// 1: it is a default stream
                is_default: bool,
                /// how `--timing auto` times its tasks from here on: 1 two events for each; 2 one; 3 every N-th
                /// task; 0 no statement. Of several rows of a stream the largest counts
                manner: u8,
            }

            /// An event.
            Event EventRow = 4 b"EVNT", entity of 64 {
                /// serial
                serial: u32,
                /// serial of its context
                context: u32,
                /// handle
                handle: u64,
                /// creation flags
                flags: u32,
                /// made by 0: `aclrtCreateEvent`, 1: `…WithFlag`, 2: `…ExWithFlag`
                creation: u8,
            }

            /// A counter of the tool itself.
            Counter CounterRow = 9 b"CNTR", figure of 192 {
                /// which: 1 device events injected; 2 event pairs lost; 3 tasks with events around them; 4
                /// nanoseconds that the program spent on these; 5 nanoseconds that it spent on reading times; 6
                /// most pending pairs of one stream; 7 nanoseconds for which the host was suspended; 8 how
                /// often its wall clock was set; 9 functions that no table has and that got no stub; 10 calls
                /// that were open when their process or the recording ended; 11 calls that were left; 12
                /// streams that `--timing auto` timed by one event a task; 13 streams that it timed by every
                /// N-th task; 14 timed tasks that took less time than an event record; 15 entries of the
                /// hardware log; 16 those without times; 17 how often there was no memory for more; 18 entries
                /// that were joined to tasks; 19 entries that were not; 20 stretches of streams in which the
                /// log did not match the submitted tasks; 21 how often the
                /// program paused the recording; 22 nanoseconds of these pauses; 23 nanoseconds that events
                /// around tasks took on devices; 24 nanoseconds of streams in which these tasks ran; 25 calls that the filters left out; 26 tasks of runs that have one time together; 1024 + 16 × device + k: a
                /// number that was learnt of a device. k = 0: the nanoseconds that an event record takes in the
                /// median. k = 1: the largest distance from it. k = 2: the time that an event pair adds to a task,
                /// less the time from one task to the next. It may be negative, and has 32 bits of two's
                /// complement. k = 3: the largest distance from it. k = 4: the shortest time between the events of a
                /// task. k = 5, 6, 7: the same three of kernels alone; 8, 9, 10: of copies; 11, 12, 13: of fills.
                /// k = 14: by how much longer kernels are by events than by the hardware log, in the median. k = 15:
                /// the largest distance from it. 32768 + 8 × device + k: k = 0: how far the mean of many may be from
                /// the median of the time that a pair adds. k = 1, 2, 3: the same of kernels, copies and fills
                /// alone. k = 4: the same of the difference from the hardware log. Their value is the number of samples × 2^32 + the nanoseconds.
                /// k = 5: the physical number of the card, plus 1. k = 6: its address on the PCI bus, plus 1: 16 bits of the domain, 8
                /// of the bus, 5 of the device and 3 of its function
                what: u16,
                /// its value. It only grows, so the largest of several rows is the latest. Rows need not
                /// be in the order in which threads sent them
                value: u64,
            }
        }
    };
}
