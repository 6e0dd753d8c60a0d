//! Records as they lie in shared memory become rows of the trace.
//!
//! The program that wrote them is not trusted: a record that makes no sense is counted and skipped.

use std::borrow::Cow;

use ascend_trace_format::api::{Arg, Function};
use ascend_trace_format::record::{
    Header, MAX_STRING, MAX_WORDS, Reader, RecordKind, SLOT_WORDS, STUB, TaskWord, flags,
    stream_bits, unpair,
};
use ascend_trace_model::rows::{
    AnchorRow, CallRow, ContextRow, CounterRow, EndRow, Ending, EventRow, GraphRef, NameRow,
    ProcessRow, Row, StreamRow, TaskRow, TaskTimeRow, ThreadRow,
};

use super::clock::Clock;
use super::command::Commands;
use super::found::Found;

/// Bit of `aux` that marks default contexts.
const IS_DEFAULT: u16 = 1;

/// Bounds are multiples of this. A power of two, far below what they are exact to.
const BOUND_NS: i64 = 64;

/// The thread whose channel a record came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) process: u32,
    pub(crate) thread: u32,
    pub(crate) tid: u32,
}

/// Decodes records. It keeps the last call, so that the next one needs no memory of its own.
pub(crate) struct Decoder {
    call: Row,
    other: Row,
    pub(crate) found: Found,
    pub(crate) commands: Commands,
}

impl Default for Decoder {
    fn default() -> Self {
        Self {
            call: Row::Call(CallRow::default()),
            other: Row::End(EndRow::default()),
            found: Found::default(),
            commands: Commands::default(),
        }
    }
}

impl Decoder {
    /// Decodes the record in `words`; `None` when it makes no sense.
    pub(crate) fn decode(
        &mut self,
        words: &[u64],
        origin: Origin,
        functions: &[Function],
        clock: &Clock,
    ) -> Option<&mut Row> {
        let header = Header::decode(*words.first()?)?;
        let reader = Reader::new(words);
        let process = origin.process;
        self.other = match header.kind {
            RecordKind::Call => {
                let number = self.found.number(process, header.aux)?;
                if let Row::Call(row) = &mut self.call {
                    call(row, header, reader, origin, functions, clock)?;
                    row.function = number;
                }
                return Some(&mut self.call);
            }
            RecordKind::Process => {
                let mut row = process_row(reader, process, clock);
                row.command = self.commands.of(process);
                Row::Process(row)
            }
            RecordKind::Stream => Row::Stream(stream(header, reader, process)),
            RecordKind::Event => Row::Event(event(reader, process)),
            RecordKind::Context => Row::Context(context(header, reader, process)),
            RecordKind::TaskTime => Row::TaskTime(task_time(header, reader, process, clock)),
            RecordKind::Anchor => Row::Anchor(anchor(header, reader, process, clock)),
            RecordKind::Thread => Row::Thread(thread(reader, origin)),
            RecordKind::Counter => Row::Counter(counter(reader, process)),
            RecordKind::Name => Row::Name(name(reader, process, clock)),
            // These are for the report on what was caught, or for the decoder.
            RecordKind::Lookup
            | RecordKind::Library
            | RecordKind::Function
            | RecordKind::Patch
            | RecordKind::Command => return None,
            // This needs to know of all threads.
            RecordKind::Cost => return None,
        };
        Some(&mut self.other)
    }
}

impl Decoder {
    /// A call that is under way, as its thread tells; it ends at `end_ns` as far as the trace is
    /// concerned. `None` when it makes no sense.
    pub(crate) fn open_call(
        &mut self,
        words: &[u64; SLOT_WORDS],
        end_ns: i64,
        origin: Origin,
        functions: &[Function],
        clock: &Clock,
    ) -> Option<&mut CallRow> {
        let header = Header::decode(*words.first()?)?;
        if header.kind != RecordKind::Call {
            return None;
        }
        let number = self.found.number(origin.process, header.aux)?;
        // The same words as those of a call that was left, but for a length that nobody knows.
        let mut words = *words;
        let flags = (header.flags & flags::STREAM) | flags::LEFT;
        *words.get_mut(0)? = Header { flags, ..header }.encode();
        *words.get_mut(2)? = 0;
        if header.aux >= STUB {
            words.iter_mut().skip(3).for_each(|word| *word = 0);
        }
        let header = Header { flags, ..header };
        let Row::Call(row) = &mut self.call else {
            return None;
        };
        call(row, header, Reader::new(&words), origin, functions, clock)?;
        row.function = number;
        row.end_ns = end_ns.max(row.begin_ns);
        row.ending = Ending::Open;
        Some(row)
    }
}

fn call(
    row: &mut CallRow,
    header: Header,
    mut reader: Reader<'_>,
    origin: Origin,
    functions: &[Function],
    clock: &Clock,
) -> Option<()> {
    let declared: &[Arg] = match header.aux {
        STUB.. => &[],
        number => functions.get(usize::from(number))?.args,
    };
    let begin = reader.word();
    let (duration, ret) = unpair(reader.word());
    let has = |flag| header.flags & flag != 0;
    let is_left = has(flags::LEFT);
    let mut optional = |flag| has(flag).then(|| reader.word());
    // The words come in the order of their flags.
    let stream = optional(flags::STREAM).map(unpair);
    let object = optional(flags::OBJECT).map(unpair);
    let task = optional(flags::TASK).and_then(TaskWord::decode);
    let end = optional(flags::LONG).unwrap_or_else(|| begin.saturating_add(u64::from(duration)));
    let wide = optional(flags::WIDE);
    let graph = optional(flags::GRAPH).map(unpair);
    row.args.clear();
    let count = match header.aux {
        STUB.. => usize::try_from(reader.word()).ok()?.min(MAX_WORDS),
        // Of a call that did not return only the arguments that found room are told.
        _ if is_left => declared.len().min(reader.left()),
        _ => declared.len(),
    };
    row.args.extend((0..count).map(|_| reader.word()));
    if is_left {
        // What it would have answered is not known.
        let answers = row.args.iter_mut().zip(declared);
        answers
            .filter(|(_, arg)| arg.out)
            .for_each(|(word, _)| *word = 0);
    }
    row.strings.clear();
    if has(flags::BLOBS) {
        let texts = declared.iter().filter(|arg| arg.kind.is_text() && !arg.out);
        row.strings.extend(texts.map(|_| string(&mut reader)));
    }
    row.thread = origin.thread;
    row.function = header.aux;
    row.begin_ns = clock.ns(begin);
    row.end_ns = clock.ns(end.max(begin));
    row.ret = wide.map_or(i64::from(ret.cast_signed()), u64::cast_signed);
    row.depth = header.depth;
    row.device = header.device;
    row.stream = stream.map(|(serial, _)| serial).filter(known);
    row.context = stream.map(|(_, context)| context).filter(known);
    row.event = object;
    row.task = task.map(|task| TaskRow {
        sequence: task.sequence,
        kind: task.kind.code(),
        untimed: task.untimed.code(),
    });
    row.graph = graph.map(|(serial, index)| GraphRef { serial, index });
    row.ending = if is_left {
        Ending::Left
    } else {
        Ending::Returned
    };
    Some(())
}

/// Serials count from 1.
fn known(serial: &u32) -> bool {
    *serial != 0
}

fn process_row(mut reader: Reader<'_>, process: u32, clock: &Clock) -> ProcessRow {
    let (pid, parent_pid) = unpair(reader.word());
    ProcessRow {
        process,
        pid,
        parent_pid,
        begin_ns: clock.ns(reader.word()),
        name: string(&mut reader).unwrap_or_default(),
        rank: string(&mut reader).unwrap_or_default(),
        command: String::new(),
    }
}

fn stream(header: Header, mut reader: Reader<'_>, process: u32) -> StreamRow {
    let (serial, context) = unpair(reader.word());
    let handle = reader.word();
    let (acl_id, device) = unpair(reader.word());
    let (flags, priority) = unpair(reader.word());
    StreamRow {
        process,
        serial,
        context,
        device,
        handle,
        acl_id: (header.aux & stream_bits::HAS_ID != 0).then_some(acl_id.cast_signed()),
        flags,
        priority,
        is_default: header.aux & stream_bits::IS_DEFAULT != 0,
        manner: (header.aux >> stream_bits::MANNER_SHIFT) as u8 & 3,
    }
}

fn event(mut reader: Reader<'_>, process: u32) -> EventRow {
    let (serial, context) = unpair(reader.word());
    let handle = reader.word();
    let (flags, creation) = unpair(reader.word());
    EventRow {
        process,
        serial,
        context,
        handle,
        flags,
        creation: creation as u8,
    }
}

fn context(header: Header, mut reader: Reader<'_>, process: u32) -> ContextRow {
    let (serial, device) = unpair(reader.word());
    ContextRow {
        process,
        serial,
        device,
        handle: reader.word(),
        is_default: header.aux & IS_DEFAULT != 0,
    }
}

fn task_time(header: Header, mut reader: Reader<'_>, process: u32, clock: &Clock) -> TaskTimeRow {
    let (stream, sequence) = unpair(reader.word());
    let begin_device_ns = reader.word().cast_signed();
    let end_device_ns = reader.word().cast_signed();
    let seen_ns = clock.ns(reader.word());
    let begin = reader.word();
    let (arming, closing) = unpair(reader.word());
    let (record_ns, record_open_ns) = unpair(reader.word());
    let passed = |from: u64, to: u64| {
        let ns = clock.ns(to).saturating_sub(clock.ns(from));
        u32::try_from(ns.max(0)).unwrap_or(u32::MAX)
    };
    TaskTimeRow {
        process,
        stream,
        sequence,
        untimed: header.aux as u8,
        begin_device_ns,
        end_device_ns,
        seen_ns: bound(seen_ns),
        arming_ns: passed(begin.saturating_sub(arming.into()), begin),
        submitting_ns: passed(begin, begin.saturating_add(closing.into())),
        record_ns,
        record_open_ns,
    }
}

/// A time that is only a bound, made a little later: the last bits of it would take more room in the
/// file than all that they tell is worth.
fn bound(ns: i64) -> i64 {
    ns.saturating_add(BOUND_NS - 1) & -BOUND_NS
}

fn anchor(header: Header, mut reader: Reader<'_>, process: u32, clock: &Clock) -> AnchorRow {
    AnchorRow {
        process,
        device: reader.word() as u32,
        before_ns: clock.ns(reader.word()),
        after_ns: clock.ns(reader.word()),
        device_ns: reader.word().cast_signed(),
        source: header.aux as u8,
    }
}

fn thread(mut reader: Reader<'_>, origin: Origin) -> ThreadRow {
    ThreadRow {
        thread: origin.thread,
        process: origin.process,
        tid: reader.word() as u32,
        name: string(&mut reader).unwrap_or_default(),
    }
}

fn name(mut reader: Reader<'_>, process: u32, clock: &Clock) -> NameRow {
    NameRow {
        process,
        key: reader.word(),
        since_ns: clock.ns(reader.word()),
        name: string(&mut reader).unwrap_or_default(),
    }
}

fn counter(mut reader: Reader<'_>, process: u32) -> CounterRow {
    CounterRow {
        process,
        what: reader.word() as u16,
        value: reader.word(),
    }
}

fn string<T: for<'t> From<Cow<'t, str>>>(reader: &mut Reader<'_>) -> Option<T> {
    let mut bytes = [0; MAX_STRING];
    let text = reader.string(&mut bytes)?;
    Some(String::from_utf8_lossy(text).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ascend_trace_format::api::{Arg, ArgKind, Blocks, Facts, RetKind, Role, TaskKind, Untimed};
    use ascend_trace_format::record::{MAX_WORDS, NULL_STRING, Words, pair};

    const ORIGIN: Origin = Origin {
        process: 2,
        thread: 5,
        tid: 77,
    };

    const fn arg(name: &'static str, kind: ArgKind) -> Arg {
        Arg {
            name,
            ctype: "void *",
            kind,
            out: false,
            width: 8,
            enumeration: "",
            count: None,
        }
    }

    const FUNCTIONS: [Function; 1] = [Function {
        name: "aclExample",
        header: "acl/acl.h",
        library: "libascendcl.so",
        category: "example",
        role: Role::Task,
        task: Some(TaskKind::Kernel),
        timed: true,
        blocks: Blocks::No,
        stream: Some(0),
        event: None,
        bytes: None,
        label: None,
        names: None,
        parts: &[],
        facts: Facts::of(&[]),
        ret: RetKind::Error,
        args: &[
            arg("stream", ArgKind::Stream),
            arg("name", ArgKind::String),
            arg("other", ArgKind::String),
        ],
    }];

    fn header(kind: RecordKind, aux: u16, flags: u8) -> Header {
        Header {
            kind,
            slots: 1,
            aux,
            depth: 1,
            flags,
            device: Some(3),
        }
    }

    fn decoded(header: Header, fill: impl FnOnce(&mut Words<'_>)) -> Option<Row> {
        let mut buffer = [0; MAX_WORDS];
        let mut words = Words::new(&mut buffer);
        fill(&mut words);
        words.finish(header);
        let mut decoder = Decoder::default();
        let row = decoder.decode(&buffer, ORIGIN, &FUNCTIONS, &Clock::monotonic());
        row.cloned()
    }

    #[test]
    fn a_call_with_everything_is_read_in_the_order_of_its_flags() {
        let all =
            flags::STREAM | flags::OBJECT | flags::TASK | flags::LONG | flags::BLOBS | flags::GRAPH;
        let task = TaskWord {
            sequence: 9,
            kind: TaskKind::Kernel,
            untimed: Untimed::Captured,
        };
        let row = decoded(header(RecordKind::Call, 0, all), |words| {
            words.push(1000);
            words.push(pair(1, (-7i32).cast_unsigned()));
            words.push(pair(4, 6));
            words.push(pair(11, 12));
            words.push(task.encode());
            words.push(9_000_000_000_000);
            words.push(pair(2, 31));
            [0xabc, 1, 2].into_iter().for_each(|word| words.push(word));
            words.push_string(b"MatMul");
            words.push(NULL_STRING);
        });
        let expected = CallRow {
            thread: 5,
            function: 0,
            begin_ns: 1000,
            end_ns: 9_000_000_000_000,
            ret: -7,
            depth: 1,
            device: Some(3),
            stream: Some(4),
            context: Some(6),
            event: Some((11, 12)),
            task: Some(TaskRow {
                sequence: 9,
                kind: 3,
                untimed: 2,
            }),
            graph: Some(GraphRef {
                serial: 2,
                index: 31,
            }),
            args: vec![0xabc, 1, 2],
            strings: vec![Some("MatMul".into()), None],
            ending: Ending::Returned,
        };
        assert_eq!(row, Some(Row::Call(expected)));
    }

    #[test]
    fn a_bare_call_ends_after_its_duration() {
        let row = decoded(header(RecordKind::Call, 0, 0), |words| {
            words.push(1000);
            words.push(pair(250, 0));
        });
        let Some(Row::Call(call)) = row else {
            panic!("{row:?}");
        };
        assert_eq!((call.begin_ns, call.end_ns), (1000, 1250));
        assert_eq!((call.stream, call.event, call.task), (None, None, None));
    }

    #[test]
    fn a_function_that_the_table_does_not_have_is_refused() {
        assert_eq!(decoded(header(RecordKind::Call, 1, 0), |_| ()), None);
    }

    #[test]
    fn processes_streams_and_times_are_read() {
        let process = decoded(header(RecordKind::Process, 0, 0), |words| {
            words.push(pair(10, 9));
            words.push(500);
            words.push_string(b"train");
            words.push_string(b"3");
        });
        let expected = ProcessRow {
            process: 2,
            pid: 10,
            parent_pid: 9,
            begin_ns: 500,
            name: "train".into(),
            rank: "3".into(),
            command: String::new(),
        };
        assert_eq!(process, Some(Row::Process(expected)));
        let stream = decoded(header(RecordKind::Stream, 0b1001, 0), |words| {
            words.push(pair(1, 2));
            words.push(0xf00);
            words.push(pair(17, 3));
            words.push(pair(4, 5));
        });
        let expected = StreamRow {
            process: 2,
            serial: 1,
            context: 2,
            device: 3,
            handle: 0xf00,
            acl_id: None,
            flags: 4,
            priority: 5,
            is_default: true,
            manner: 2,
        };
        assert_eq!(stream, Some(Row::Stream(expected)));
        let time = decoded(header(RecordKind::TaskTime, 0, 0), |words| {
            words.push(pair(1, 8));
            [70, 90, 2000, 1500, pair(100, 300), pair(12, 3)]
                .into_iter()
                .for_each(|word| words.push(word));
        });
        let expected = TaskTimeRow {
            process: 2,
            stream: 1,
            sequence: 8,
            untimed: 0,
            begin_device_ns: 70,
            end_device_ns: 90,
            seen_ns: 2048,
            arming_ns: 100,
            submitting_ns: 300,
            record_ns: 12,
            record_open_ns: 3,
        };
        assert_eq!(time, Some(Row::TaskTime(expected)));
    }

    #[test]
    fn garbage_is_no_row() {
        let clock = Clock::monotonic();
        let mut decoder = Decoder::default();
        for words in [&[][..], &[u64::MAX; 8]] {
            assert_eq!(decoder.decode(words, ORIGIN, &FUNCTIONS, &clock), None);
        }
    }
}
