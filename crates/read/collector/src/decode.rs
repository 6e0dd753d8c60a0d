//! Decodes records of the shared memory into rows of the trace.
//!
//! The program that wrote them is not trusted: a record that makes no sense is counted and skipped.

use std::borrow::Cow;

use ascend_trace_format::api::{Arg, Function};
use ascend_trace_format::long_text;
use ascend_trace_format::record::{Call, Record, SLOT_WORDS, STUB, Text, kinds, unpair};
use ascend_trace_recording::long_texts;
use ascend_trace_recording::rows::{
    self, AnchorRow, CallRow, EndRow, Ending, GraphRef, MOST_RUN_TASKS, NameRow, ProcessRow, Row,
    TaskRow, TaskTimeRow, ThreadRow,
};

use super::clock::TickClock;
use super::command::CommandLines;
use super::long_texts::LongTexts;
use super::process_name;
use super::stacks::{self, Stacks};
use super::stub_functions::StubFunctions;

/// Bounds are multiples of this. A power of two, far below their precision.
const BOUND_NS: i64 = 64;

/// The thread that owns the channel of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordOrigin {
    pub(crate) process: u32,
    pub(crate) thread: u32,
    pub(crate) tid: u32,
}

/// Decodes records. It keeps the last call, so that the next one needs no new memory.
pub(crate) struct Decoder {
    call: Row,
    other: Row,
    pub(crate) found: StubFunctions,
    commands: CommandLines,
    stacks: Stacks,
    long_texts: LongTexts,
}

/// Kinds of records for the collector.
pub(crate) enum Decoded<'d, 'r> {
    /// A row of the file.
    Row(&'d mut Row),
    /// It belongs to the report on interception, or needs facts about all threads.
    Other(Record<'r>),
    /// The decoder has learnt from it.
    Learnt,
    /// It makes no sense.
    Nothing,
}

impl Default for Decoder {
    fn default() -> Self {
        Self {
            call: Row::Call(CallRow::default()),
            other: Row::End(EndRow::default()),
            found: StubFunctions::default(),
            commands: CommandLines::default(),
            stacks: Stacks::default(),
            long_texts: LongTexts::default(),
        }
    }
}

impl Decoder {
    /// Decodes the record in `words`.
    pub(crate) fn decode<'r>(
        &mut self,
        words: &'r [u64],
        origin: RecordOrigin,
        functions: &[Function],
        clock: &TickClock,
    ) -> Decoded<'_, 'r> {
        // Nearly all records are calls.
        if let Some(record) = Call::take(words) {
            return match self.call(&record, origin, functions, clock) {
                Some(_) => Decoded::Row(&mut self.call),
                None => Decoded::Nothing,
            };
        }
        let Some(record) = Record::take(words) else {
            return Decoded::Nothing;
        };
        let process = origin.process;
        self.other = match record {
            Record::Call(_) => return Decoded::Nothing,
            Record::Verbatim(record) => rows::verbatim_row(process, record),
            Record::Process(record) => {
                let command = self.commands.of(process);
                Row::Process(process_row(&record, command, process, clock))
            }
            Record::TaskTime(record) => Row::TaskTime(task_time(&record, process, clock)),
            Record::Anchor(record) => Row::Anchor(anchor(&record, process, clock)),
            Record::Thread(record) => Row::Thread(thread(&record, origin)),
            Record::Name(record) => Row::Name(name(&record, process, clock)),
            Record::Command(record) => {
                self.commands.take(&record, process);
                return Decoded::Learnt;
            }
            Record::Function(record) => {
                self.found.take(&record, process);
                return Decoded::Learnt;
            }
            Record::TextPart(record) => match self.long_texts.take(&record, origin) {
                Some(row) => Row::LongText(row),
                None => return Decoded::Learnt,
            },
            Record::Object(record) => Row::Object(stacks::object(&record, process)),
            Record::Code(record) => match self.stacks.code(&record, process) {
                Some(row) => Row::Code(row),
                None => return Decoded::Learnt,
            },
            Record::Stack(record) => match self.stacks.row(&record, process) {
                Some(row) => Row::Stack(row),
                None => return Decoded::Learnt,
            },
            Record::Activity(_)
            | Record::Log(_)
            | Record::RangeBegin(_)
            | Record::RangeEnd(_)
            | Record::Lookup(_)
            | Record::Library(_)
            | Record::Patch(_)
            | Record::EngineFailure(_)
            | Record::Cost(_) => return Decoded::Other(record),
        };
        Decoded::Row(&mut self.other)
    }

    fn call(
        &mut self,
        record: &Call<'_>,
        origin: RecordOrigin,
        functions: &[Function],
        clock: &TickClock,
    ) -> Option<&mut CallRow> {
        let stack = record
            .stack
            .and_then(|id| self.stacks.number(origin.process, id));
        let Row::Call(row) = &mut self.call else {
            return None;
        };
        call(row, record, functions, clock)?;
        row.thread = origin.thread;
        row.function = self
            .found
            .place(origin.process, record.function, &mut row.args)?;
        row.stack = stack;
        Some(row)
    }

    /// A running call, as announced by its thread; for the trace, it ends at `end_ns`. `None` when it
    /// makes no sense.
    pub(crate) fn open_call(
        &mut self,
        words: &[u64; SLOT_WORDS],
        end_ns: i64,
        origin: RecordOrigin,
        functions: &[Function],
        clock: &TickClock,
    ) -> Option<&mut CallRow> {
        let row = self.call(&Call::take_open(words)?, origin, functions, clock)?;
        row.end_ns = end_ns.max(row.begin_ns);
        row.ending = Ending::Open;
        Some(row)
    }
}

fn call(
    row: &mut CallRow,
    record: &Call<'_>,
    functions: &[Function],
    clock: &TickClock,
) -> Option<()> {
    let declared: &[Arg] = match record.function {
        STUB.. => &[],
        number => functions.get(usize::from(number))?.args,
    };
    let count = match record.function {
        STUB.. => record.args.len(),
        _ => declared.len(),
    };
    let (args, mut texts) = record.split(count);
    row.args.clear();
    row.args.extend_from_slice(args);
    if record.is_left {
        // The values that it would have returned are not known. Only the arguments that had room are in
        // the record.
        let answers = row.args.iter_mut().zip(declared);
        answers
            .filter(|(_, arg)| arg.out)
            .for_each(|(word, _)| *word = 0);
    } else {
        row.args.resize(count, 0);
    }
    row.strings.clear();
    if record.has_texts {
        let args = declared.iter().filter(|arg| arg.kind.is_text() && !arg.out);
        row.strings.extend(args.map(|_| texts.text().map(string)));
    }
    let stream = record.stream.map(unpair);
    row.begin_ns = clock.ns(record.begin);
    row.end_ns = clock.ns(record.end.max(record.begin));
    row.ret = record.result.cast_signed();
    row.depth = record.depth;
    row.device = record.device;
    row.stream = stream.map(|(serial, _)| serial).filter(known);
    row.context = stream.map(|(_, context)| context).filter(known);
    row.event = record.object.map(unpair);
    row.task = record.task.map(|task| TaskRow {
        sequence: task.sequence,
        kind: task.kind.code(),
        untimed: task.untimed.code(),
    });
    let graph = record.graph.map(unpair);
    row.graph = graph.map(|(serial, index)| GraphRef { serial, index });
    row.cpu = record.cpu;
    row.ending = match record.is_left {
        true => Ending::Left,
        false => Ending::Returned,
    };
    Some(())
}

/// Serials count from 1.
fn known(serial: &u32) -> bool {
    *serial != 0
}

fn process_row(
    record: &kinds::Process<'_>,
    command: String,
    process: u32,
    clock: &TickClock,
) -> ProcessRow {
    ProcessRow {
        process,
        pid: record.pid,
        parent_pid: record.parent_pid,
        begin_ns: clock.ns(record.begin),
        name: process_name::name(string(record.name), &command),
        rank: string(record.rank),
        command,
        // The collector adds it.
        outer_pid: 0,
    }
}

fn task_time(record: &kinds::TaskTime, process: u32, clock: &TickClock) -> TaskTimeRow {
    let begin = record.submitted;
    let passed = |from: u64, to: u64| {
        let ns = clock.ns(to).saturating_sub(clock.ns(from));
        u32::try_from(ns.max(0)).unwrap_or(u32::MAX)
    };
    TaskTimeRow {
        process,
        stream: record.stream,
        sequence: record.sequence,
        untimed: record.untimed.code(),
        begin_device_ns: record.begin_device_ns,
        end_device_ns: record.end_device_ns,
        seen_ns: bound(clock.ns(record.seen)),
        arming_ns: passed(begin.saturating_sub(record.arming.into()), begin),
        submitting_ns: passed(begin, begin.saturating_add(record.closing.into())),
        record_ns: record.record_ns,
        record_open_ns: record.record_open_ns,
        run_tasks: record.run_tasks.min(MOST_RUN_TASKS),
    }
}

/// Rounds a time that is only a bound up a little: its last bits would cost more room in the file than
/// they are worth.
fn bound(ns: i64) -> i64 {
    ns.saturating_add(BOUND_NS - 1) & -BOUND_NS
}

fn anchor(record: &kinds::Anchor, process: u32, clock: &TickClock) -> AnchorRow {
    AnchorRow {
        process,
        device: record.device,
        before_ns: clock.ns(record.before),
        after_ns: clock.ns(record.after),
        device_ns: record.device_ns,
        source: record.source.code(),
    }
}

fn thread(record: &kinds::Thread<'_>, origin: RecordOrigin) -> ThreadRow {
    ThreadRow {
        thread: origin.thread,
        process: origin.process,
        tid: record.tid,
        handle: record.handle,
        name: string(record.name),
    }
}

fn name(record: &kinds::Name<'_>, process: u32, clock: &TickClock) -> NameRow {
    NameRow {
        process,
        since_ns: clock.ns(record.since),
        key: record.key,
        name: string(record.name),
    }
}

/// A text of a record, which may be no good text; of a long text its short form.
pub(super) fn string<T: for<'t> From<Cow<'t, str>>, const MOST: usize>(text: Text<'_, MOST>) -> T {
    let mut room = [0; MOST];
    let bytes = text.copy(&mut room);
    match long_text::referenced(bytes) {
        Some((begin, hash)) => Cow::from(long_texts::short_form(begin, hash)).into(),
        None => String::from_utf8_lossy(bytes).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ascend_trace_format::api::{ArgKind, Blocks, FactSet, RetKind, Role, TaskKind, Untimed};
    use ascend_trace_format::record::call::{ArgText, NO_TEXTS};
    use ascend_trace_format::record::{CpuTime, MAX_WORDS, Recorded, TaskWord, pair};
    use ascend_trace_recording::rows::StreamRow;

    const ORIGIN: RecordOrigin = RecordOrigin {
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
        facts: FactSet::of(&[]),
        ret: RetKind::Error,
        args: &[
            arg("stream", ArgKind::Stream),
            arg("name", ArgKind::String),
            arg("other", ArgKind::String),
        ],
    }];

    /// The row of a record that fills a buffer.
    fn decoded(put: impl FnOnce(&mut [u64])) -> Option<Row> {
        let mut words = [0; MAX_WORDS];
        put(&mut words);
        let mut decoder = Decoder::default();
        match decoder.decode(&words, ORIGIN, &FUNCTIONS, &TickClock::monotonic()) {
            Decoded::Row(row) => Some(row.clone()),
            _ => None,
        }
    }

    fn row_of<'a>(record: &impl Recorded<'a>) -> Option<Row> {
        decoded(|words| record.put(words))
    }

    #[test]
    fn a_call_with_everything_is_read() {
        let call = Call {
            depth: 1,
            device: Some(3),
            result: i64::from(-7).cast_unsigned(),
            stream: Some(pair(4, 6)),
            object: Some(pair(11, 12)),
            task: Some(TaskWord {
                sequence: 9,
                kind: TaskKind::Kernel,
                untimed: Untimed::Captured,
            }),
            graph: Some(pair(2, 31)),
            cpu: CpuTime::new(6_000, 64_000, 2),
            ..Call::plain(0, (1000, 9_000_000_000_000), &[0xabc, 1, 2])
        };
        let texts: [ArgText<'_>; 2] = [Some(b"MatMul"), None];
        let row = decoded(|words| call.put(words, Some(texts.into_iter())));
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
            stack: None,
            cpu: CpuTime::new(6_000, 64_000, 2),
        };
        assert_eq!(row, Some(Row::Call(expected)));
    }

    #[test]
    fn a_bare_call_ends_after_its_duration() {
        let call = Call::plain(0, (1000, 1250), &[]);
        let row = decoded(|words| call.put(words, NO_TEXTS));
        let Some(Row::Call(call)) = row else {
            panic!("{row:?}");
        };
        assert_eq!((call.begin_ns, call.end_ns), (1000, 1250));
        assert_eq!((call.stream, call.event, call.task), (None, None, None));
        assert_eq!(call.args, [0; 3], "the function has three arguments");
    }

    #[test]
    fn a_call_without_a_return_has_its_arguments_only() {
        let call = Call {
            is_left: true,
            ..Call::plain(0, (1000, 1250), &[1, 2, 3])
        };
        let mut room = [0; SLOT_WORDS];
        call.put(&mut room, NO_TEXTS);
        let mut decoder = Decoder::default();
        // Its record was cut within the arguments.
        let decoded = decoder.decode(&room[..5], ORIGIN, &FUNCTIONS, &TickClock::monotonic());
        let Decoded::Row(Row::Call(row)) = decoded else {
            panic!("no call");
        };
        assert_eq!((row.ending, &row.args[..]), (Ending::Left, &[1, 2][..]));
    }

    #[test]
    fn a_function_that_the_table_does_not_have_is_refused() {
        let call = Call::plain(1, (0, 0), &[]);
        assert_eq!(decoded(|words| call.put(words, NO_TEXTS)), None);
    }

    #[test]
    fn processes_streams_and_times_are_read() {
        let process = row_of(&kinds::Process {
            pid: 10,
            parent_pid: 9,
            begin: 500,
            name: Text::new(b"train"),
            rank: Text::new(b"3"),
        });
        let expected = ProcessRow {
            process: 2,
            pid: 10,
            parent_pid: 9,
            begin_ns: 500,
            name: "train".into(),
            rank: "3".into(),
            command: String::new(),
            outer_pid: 0,
        };
        assert_eq!(process, Some(Row::Process(expected)));
        let stream = row_of(&kinds::Stream {
            serial: 1,
            context: 2,
            device: 3,
            handle: 0xf00,
            acl_id: None,
            flags: 4,
            priority: 5,
            is_default: true,
            manner: 2,
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
        let time = row_of(&kinds::TaskTime {
            arming: 100,
            begin_device_ns: 70,
            end_device_ns: 90,
            seen: 2000,
            submitted: 1500,
            closing: 300,
            record_ns: 12,
            record_open_ns: 3,
            run_tasks: 12,
            ..kinds::TaskTime::none(1, 8, Untimed::Timed)
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
            run_tasks: 12,
        };
        assert_eq!(time, Some(Row::TaskTime(expected)));
    }

    #[test]
    fn garbage_is_no_row() {
        let clock = TickClock::monotonic();
        let mut decoder = Decoder::default();
        for words in [&[][..], &[u64::MAX; 8]] {
            let decoded = decoder.decode(words, ORIGIN, &FUNCTIONS, &clock);
            assert!(matches!(decoded, Decoded::Nothing));
        }
    }
}
