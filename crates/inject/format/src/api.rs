//! The vocabulary of the hook table: the effects of a function on streams, events and the host, and the
//! meanings of its arguments. The table itself is generated; these are its words.

use crate::coded_enum;

pub use crate::role::{
    NOT_SUBSCRIBED, ObjectUse, REPORT_TIMEOUT, Role, RoleMeaning, TIMEOUTS, WaitTarget, is_answer,
};

coded_enum! {
    /// What kind of work a task is: the words of the truth log and of `tasks.csv`.
    TaskKind {
        Other = 0 "other",
        Memcpy = 1 "memcpy",
        Memset = 2 "memset",
        Kernel = 3 "kernel",
        HostFunc = 4 "hostfunc",
        Record = 5 "record",
        Wait = 6 "wait",
        Graph = 7 "graph",
        Notify = 8 "notify",
        Value = 9 "value",
        /// Communication of all ranks, or of two.
        Collective = 10 "collective",
    }
}

coded_enum! {
    /// Meaning of an argument, other than the stream, the event, the bytes and the label.
    ArgPart {
        /// How a stream or an event is made, or how an event is recorded or waited for.
        Flags = 0 "flags",
        /// The priority of a stream.
        Priority = 1 "priority",
        /// Something that holds the flags of a stream.
        Configuration = 2 "configuration",
        /// The id that the runtime gave a stream.
        StreamId = 3 "stream-id",
        /// Status that an event's query returns.
        Status = 4 "status",
        /// Users of the runtime that are left.
        Users = 5 "users",
        /// Where a copy reads.
        Source = 6 "source",
        /// Where a copy writes.
        Destination = 7 "destination",
        /// Which way a copy goes.
        Direction = 8 "direction",
        /// A graph.
        Graph = 9 "graph",
        /// A group of captured tasks.
        TaskGroup = 10 "task-group",
        /// A notify.
        Notify = 11 "notify",
        /// A notify that counts.
        Counter = 12 "counter",
        /// Memory that tasks signal by.
        Address = 13 "address",
        /// The value that is written there, or waited for.
        Value = 14 "value",
        /// How a value is compared.
        Condition = 15 "condition",
        /// Whether the stream waits for a callback.
        Blocking = 16 "blocking",
        /// A communicator.
        Communicator = 17 "communicator",
        /// Elements that a rank gives, or takes where it gives none.
        Count = 18 "count",
        /// The type of the elements.
        DataType = 19 "data-type",
        /// How elements are put together.
        Reduction = 20 "reduction",
        /// The rank that gives or gets everything.
        Root = 21 "root",
        /// The rank that is sent to.
        ToRank = 22 "to-rank",
        /// The rank that sends.
        FromRank = 23 "from-rank",
        /// This process's number in a communicator.
        Rank = 24 "rank",
        /// How many take part in a communicator.
        Ranks = 25 "ranks",
        /// Memory of the device that the call makes.
        Allocated = 26 "allocated",
        /// Memory of the device that the call gives back.
        Freed = 27 "freed",
        /// Memory of the host that the call makes.
        HostAllocated = 28 "host-allocated",
        /// Memory of the host that the call gives back.
        HostFreed = 29 "host-freed",
        /// How much memory, or how many elements of an operand.
        Size = 30 "size",
        /// What operators work on.
        Operand = 31 "operand",
        /// The handle of a planned operator.
        Executor = 32 "executor",
        /// Whom a range or a mark belongs to.
        Domain = 33 "domain",
        /// A range that has begun.
        Range = 34 "range",
        /// Memory that a copy reads: the address itself is the argument.
        Reads = 35 "reads",
        /// Memory that a copy or a fill writes.
        Writes = 36 "writes",
        /// How many bytes of it.
        Extent = 37 "extent",
        /// Memory that a pool gives in the order of a stream.
        Pooled = 38 "pooled",
        /// A value that is equal at all ranks of a communicator, and differs from those of other
        /// communicators.
        Identity = 39 "identity",
        /// The thread that runs callbacks, by its `pthread_self`.
        Subscriber = 40 "subscriber",
        /// Device memory of an operand.
        Data = 41 "data",
        /// Elements before the operand there.
        Offset = 42 "offset",
        /// How far the elements of each dimension lie apart.
        Strides = 43 "strides",
        /// The order of the dimensions in memory.
        Layout = 44 "layout",
        /// How much the task moves. With 0 the call submits nothing.
        Bulk = 45 "bulk",
        /// How many rows of that. With 0 the call submits nothing, either.
        Rows = 46 "rows",
        /// A function of the program that the stream runs on the host. Its argument comes behind it.
        HostFunction = 47 "host-function",
        /// How far the rows lie apart that a copy reads.
        ReadPitch = 48 "read-pitch",
        /// How far the rows lie apart that it writes.
        WritePitch = 49 "write-pitch",
        /// Memory that goes back to a pool in the order of a stream.
        PoolFreed = 50 "pool-freed",
        /// The handle of physical memory of the device that the call makes.
        PhysicalAllocated = 51 "physical-allocated",
        /// The handle of physical memory that the call gives back. Memory with an address stays until the address is given back, too.
        PhysicalFreed = 52 "physical-freed",
        /// The handle of physical memory that gets an address.
        MappedPhysical = 53 "mapped-physical",
        /// The address that physical memory gets.
        MappedAt = 54 "mapped-at",
        /// An address that physical memory no longer has.
        Unmapped = 55 "unmapped",
    }
}

coded_enum! {
    /// A fact about a function, independent of its arguments.
    Fact {
        /// It does not wait for running work.
        Forced = 0 "forced",
        /// Its task sets a signal.
        Sets = 1 "sets",
        /// Its task waits for a signal.
        Awaits = 2 "awaits",
        /// A graph that is built by hand is complete.
        CompletesGraph = 3 "completes-graph",
        /// It makes an event that keeps times.
        KeepsTimes = 4 "keeps-times",
        /// It makes an event by flags.
        ByFlags = 5 "by-flags",
        /// It makes an event by flags that is not bound to a stream.
        Unbound = 6 "unbound",
        /// Its status is 0 when the event is done.
        ZeroWhenDone = 7 "zero-when-done",
        /// It makes something that operators work on.
        MakesOperand = 8 "makes-operand",
        /// It ends something that operators work on.
        EndsOperand = 9 "ends-operand",
        /// It launches a kernel by a handle with a name that the runtime returns.
        ByHandle = 10 "by-handle",
        /// It only asks or registers something: it submits nothing to its stream.
        Asks = 11 "asks",
        /// It begins a profiler, of which there may be only one.
        Profiles = 12 "profiles",
        /// Its number of elements is that of the whole collective, and the same on all ranks.
        CountsAll = 13 "counts-all",
        /// Its number of elements is that of the share of one rank, and the same on all ranks.
        CountsShare = 14 "counts-share",
        /// Collectives after it wait for the end of their group: until then, the thread submits none.
        BeginsGroup = 15 "begins-group",
        /// It submits the collectives of a group.
        EndsGroup = 16 "ends-group",
    }
}

/// The [`Fact`]s of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FactSet(u32);

impl FactSet {
    /// These facts and no other.
    pub const fn of(facts: &[Fact]) -> Self {
        let (mut bits, mut rest) = (0, facts);
        while let [fact, others @ ..] = rest {
            bits |= 1 << fact.code();
            rest = others;
        }
        Self(bits)
    }

    pub const fn has(self, fact: Fact) -> bool {
        self.0 & 1 << fact.code() != 0
    }

    /// Those that are so.
    pub fn iter(self) -> impl Iterator<Item = Fact> {
        Fact::ALL.iter().copied().filter(move |it| self.has(*it))
    }
}

impl FromIterator<Fact> for FactSet {
    fn from_iter<I: IntoIterator<Item = Fact>>(facts: I) -> Self {
        let bits = |bits, fact: Fact| bits | 1 << fact.code();
        Self(facts.into_iter().fold(0, bits))
    }
}

coded_enum! {
    /// Meaning of an argument's value.
    ArgKind {
        /// Signed integer.
        Int = 0 "int",
        /// Unsigned integer.
        Uint = 1 "uint",
        /// Bytes.
        Size = 2 "size",
        /// An address that is not read.
        Pointer = 3 "pointer",
        /// A stream handle.
        Stream = 4 "stream",
        /// An event handle.
        Event = 5 "event",
        /// A context handle.
        Context = 6 "context",
        /// A device number.
        Device = 7 "device",
        /// A value of a named enumeration.
        Enum = 8 "enum",
        /// A NUL-terminated string, copied into the record.
        String = 9 "string",
        /// The address of a function.
        Function = 10 "function",
        /// Any other handle of the runtime.
        Handle = 11 "handle",
        /// A number with a fraction, kept as the bits of an `f64`.
        Float = 12 "float",
        /// Milliseconds or seconds until the call gives up.
        Timeout = 13 "timeout",
        /// An array of 64-bit integers that the call reads, such as dimensions: copied into the
        /// record after a successful call, as a text like `[4, 2]`.
        Integers = 14 "integers",
        /// One value that the call reads, of the type that another argument names: copied into the record after
        /// a successful call, as a text like `0.5`.
        Scalar = 15 "scalar",
        /// A value that all ranks of a communicator pass alike: a digest of its begin is copied into
        /// the record, after a successful call.
        RootInfo = 16 "root-info",
        /// A heap that the program's own allocator reports (`mstxMemHeapDesc_t`): copied into the record as a text
        /// `[device, address, bytes]`.
        Heap = 17 "heap",
        /// Blocks of memory that it gives out (`mstxMemRegionsRegisterBatch_t`): device, address and bytes of each.
        Regions = 18 "regions",
        /// Blocks that it gets back (`mstxMemRegionsUnregisterBatch_t`): the address of each.
        RegionRefs = 19 "region-refs",
        /// An array of messages to and from other ranks (`HcclSendRecvItem`), with another argument as its length: kind
        /// (0 sent, 1 received), count, data type and rank of each, copied into the record after a successful call.
        Messages = 20 "messages",
    }
}

impl ArgKind {
    /// Whether a text after the argument words gives the argument.
    pub const fn is_text(self) -> bool {
        matches!(
            self,
            Self::String
                | Self::Integers
                | Self::Scalar
                | Self::RootInfo
                | Self::Heap
                | Self::Regions
                | Self::RegionRefs
                | Self::Messages
        )
    }

    /// Whether it describes memory that the program's own allocator gives out or gets back.
    pub const fn is_of_blocks(self) -> bool {
        matches!(self, Self::Heap | Self::Regions | Self::RegionRefs)
    }
}

coded_enum! {
    /// Meaning of a function's result.
    RetKind {
        /// An error code of the runtime, 0 on success.
        Error = 0 "error",
        Void = 1 "void",
        /// A 32-bit number.
        Int = 2 "int",
        /// A 64-bit number.
        Wide = 3 "wide",
        Pointer = 4 "pointer",
        /// Bits of a `float`.
        Float = 5 "float",
    }
}

coded_enum! {
    /// Whether a call can keep the host waiting for the device.
    Blocks {
        No = 0 "no",
        Yes = 1 "yes",
        /// Only under a condition, such as pageable host memory.
        Sometimes = 2 "sometimes",
    }
}

coded_enum! {
    /// Source of a reading of a device's clock.
    AnchorSource {
        /// An event on an idle stream.
        Event = 0 "event",
        /// The driver, on no stream.
        Driver = 1 "driver",
        /// The hardware's log, of what ran of a task that has no time.
        Log = 2 "log",
    }
}

coded_enum! {
    /// Why a task has no device time.
    Untimed {
        /// It has one, or its time has not been read yet.
        Timed = 0 "",
        /// The user asked for `--timing off`.
        Off = 1 "timing-off",
        /// The stream is being captured: a graph holds no timestamps.
        Captured = 2 "captured",
        /// The stream is bound to a model or being updated.
        Bound = 3 "bound-stream",
        /// No event could be had for the measurement.
        NoEvent = 4 "no-event",
        /// Another thread was submitting to the same stream.
        Contended = 5 "contended",
        /// The submitting call failed.
        Failed = 6 "call-failed",
        /// The runtime did not give the time back.
        Unreadable = 7 "unreadable",
        /// The context or the process ended before the time could be read.
        Lost = 8 "not-harvested",
        /// The runtime copied on the host: no device task exists.
        HostCopy = 9 "host-copy",
        /// The call came from inside a callback, where nothing may be injected.
        InCallback = 10 "in-callback",
        /// The stream or its context was not seen being made.
        Unknown = 11 "unknown-stream",
        /// With `--timing sample=N`, only every N-th task of a stream is timed.
        NotSampled = 12 "not-sampled",
        /// The context ended with the task's events unread.
        ContextGone = 13 "context-gone",
        /// Its events could have filled the stream's queue.
        QueueFull = 14 "queue-full",
        /// The device, or what ran in the context, had failed: nothing is asked there any more.
        ContextFailed = 15 "context-failed",
        /// The hardware log, which was chosen as the source of times, has no entry that certainly
        /// belongs to it.
        NotLogged = 16 "not-logged",
        /// As many times as the tool keeps events for were waiting already.
        Behind = 17 "device-behind",
        /// The stream ended with the task's events unread.
        StreamGone = 18 "stream-gone",
        /// Its call submitted nothing: the end of a group of collectives does.
        Grouped = 19 "grouped",
        /// As grouped. The end of the group is a task on the same stream, and has the time of them all.
        InGroup = 20 "in-group",
        /// It ran in a run of tasks that have one time together.
        InRun = 21 "in-run",
    }
}

/// One argument of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arg {
    pub name: &'static str,
    /// The C type as written in the declaration.
    pub ctype: &'static str,
    pub kind: ArgKind,
    /// The argument is a pointer through which the call returns a value: after a successful call the
    /// record has that value, else the pointer.
    pub out: bool,
    /// Bytes of the value (of the value pointed to when `out`): 1, 2, 4 or 8.
    pub width: u8,
    /// The enumeration of `ArgKind::Enum`, or of the data types of `ArgKind::Messages`; else empty.
    pub enumeration: &'static str,
    /// Index of the argument that holds the length of `ArgKind::Integers` or `ArgKind::Messages`, or the type of `ArgKind::Scalar`.
    pub count: Option<u8>,
}

/// One function of the hook table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: &'static str,
    /// The header that declares it, such as `acl/acl_rt.h`.
    pub header: &'static str,
    /// The library that exports it in current CANN releases.
    pub library: &'static str,
    pub category: &'static str,
    pub role: Role,
    /// The kind of task it submits, if it submits one.
    pub task: Option<TaskKind>,
    /// Whether event pairs are put around the task.
    pub timed: bool,
    pub blocks: Blocks,
    /// Index of the stream argument that the call works on.
    pub stream: Option<u8>,
    /// Index of the event argument that the call works on.
    pub event: Option<u8>,
    /// Index of the argument that names the bytes moved.
    pub bytes: Option<u8>,
    /// Index of the argument that names the task: a string, or a handle or number that another call has
    /// named.
    pub label: Option<u8>,
    /// The object that the call names.
    pub names: Option<NamingCall>,
    /// What further arguments are, with their indices.
    pub parts: &'static [(ArgPart, u8)],
    pub facts: FactSet,
    pub ret: RetKind,
    pub args: &'static [Arg],
}

impl ArgPart {
    /// Whether the argument is memory that begins or ends with the call.
    pub const fn is_of_memory(self) -> bool {
        matches!(
            self,
            Self::Allocated
                | Self::Freed
                | Self::HostAllocated
                | Self::HostFreed
                | Self::PhysicalAllocated
                | Self::PhysicalFreed
                | Self::MappedAt
                | Self::Unmapped
        )
    }
}

impl Function {
    /// Index of the argument that is this part.
    #[inline]
    pub fn part(&self, part: ArgPart) -> Option<u8> {
        part_in(self.parts, part)
    }
}

/// Index of the argument that is a part.
#[inline]
pub fn part_in(parts: &[(ArgPart, u8)], part: ArgPart) -> Option<u8> {
    let found = parts.iter().find(|(known, _)| *known == part);
    found.map(|(_, index)| *index)
}

/// A call that gives something a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamingCall {
    /// Index of the argument with the named object; `None` for the result.
    pub key: Option<u8>,
    /// Index of the string argument that is the name.
    pub text: u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_round_trip() {
        for role in Role::ALL {
            assert_eq!(Role::from_code(role.code()), Some(*role));
            assert_eq!(Role::from_name(role.name()), Some(*role));
        }
        for kind in TaskKind::ALL {
            assert_eq!(TaskKind::from_code(kind.code()), Some(*kind));
            assert_eq!(TaskKind::from_name(kind.name()), Some(*kind));
        }
        assert_eq!(Role::from_code(250), None);
        assert_eq!(Untimed::from_name(""), Some(Untimed::Timed));
    }
}
