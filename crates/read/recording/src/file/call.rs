//! Columns of calls: the rows that make up most of a file.

use std::collections::HashMap;
use std::sync::Arc;

use ascend_trace_format::record::CpuTime;

use crate::rows::{CallRow, Ending, GraphRef, TaskRow};

use super::chunk::ChunkKind;
use super::column::{Columns, Cursors};
use super::declare::ColumnText;
use super::table::Table;

/// Columns by content.
pub(super) mod column {
    crate::file::declare::columns! {
        /// thread
        THREAD: "number",
        /// function: its position in the tables, at most 65,535
        FUNCTION: "number",
        /// begin − end of the last call in slot *thread* of 64
        BEGIN: "signed",
        /// end − begin
        DURATION: "signed",
        /// return value
        RET: "signed",
        /// depth: 0 for the program's own calls
        DEPTH: "number",
        /// device of the calling thread, at most 255
        DEVICE: "optional",
        /// serial of the stream it worked on
        STREAM: "optional",
        /// serial of the context
        CONTEXT: "optional",
        /// serial of the event it worked on
        EVENT: "optional",
        /// only with an event: generation − last generation in slot *event* of 256. Generations of an event
        /// count from 1; 0 means not recorded
        GENERATION: "signed",
        /// 0 without a task, else the kind of task plus 1 (see below)
        TASK: "number",
        /// only with a task: why it has no time, as far as known at submission (see below)
        UNTIMED: "number",
        /// only with a task: its sequence − last sequence in slot *stream* of 256 (0 without a stream). The
        /// sequence is the position among the tasks submitted to the stream
        SEQUENCE: "signed",
        /// number of arguments, at most 255
        ARG_COUNT: "number",
        /// one per argument that column 20 says is here: its 64-bit word − the last word in slot *(function mod
        /// 512, position mod 8)*
        ARGS: "signed",
        /// number of string arguments, at most 255
        STRING_COUNT: "number",
        /// one per string argument: 0 for NULL; 1 for the next text of column 18; else the number plus 2 of a
        /// text that this chunk has had, counting from 0
        STRINGS: "number",
        /// each different string of the chunk once
        TEXTS: "text",
        /// three values for each call on a graph. First: the number of calls between it and the one before it
        /// (or the chunk's first row). Second: serial − that of the one before it. Third: index − that of the
        /// one before it (0 and 0 at first). Calls after the last one have none
        GRAPHS: "number, signed, signed",
        /// one per argument: 0 if its word is the last one in the slot that column 15 names; 1 if it is in
        /// column 15; else the place of a remembered word, plus 2
        ARG_CODES: "number",
        /// two values for each call that did not return. First: the number of calls between it and the one
        /// before it (or the chunk's first row). Second: 1 if it was left by an exception, a jump or the end of
        /// its thread, at its end or before; 2 if it was open when its process or the recording ended, which is
        /// its end. Calls after the last one returned
        ENDINGS: "number, number",
        /// two values for each call whose stack is known. First: the number of calls between it and the one
        /// before it (or the chunk's first row). Second: number of its stack − that of the one before it (0 at
        /// first). Calls after the last one have none
        STACKS: "number, signed",
        /// four values for each call with a known processor time of its thread before it. First: the number of
        /// calls between it and the one before it (or the chunk's first row). Second: microseconds that the thread used a
        /// processor until the call began. Third: the microseconds over which that is counted, less the second. Fourth: how
        /// often it blocked. 255 may also be more. Calls after the last one have
        /// none
        CPU: "number, number, number, number",
    }
}

/// A slot serves every number that has the same remainder: sharing one costs bytes, never
/// correctness.
const THREAD_SLOTS: usize = 64;
const SLOTS: usize = 256;
const FUNCTION_SLOTS: usize = 512;
/// Arguments that are remembered per function; further ones share these places.
const ARG_SLOTS: usize = 8;
/// Words of arguments that are remembered, by a hash.
const WORD_BITS: u32 = 10;
/// Code of an argument that is the same as the last one at its position.
const SAME: u64 = 0;
/// Code of a stack in the separate column. Any higher code, less [`KNOWN`], is the place of a
/// remembered word.
const NEW: u64 = 1;
const KNOWN: u64 = 2;
/// Largest number of arguments that the loader can keep of one call.
const MAX_ARGS: usize = u8::MAX as usize;

/// Predictions for the next call from earlier ones.
#[derive(Debug)]
pub(crate) struct CallMemory {
    brief: IndexMemory,
    generations: [u32; SLOTS],
    args: Vec<[u64; ARG_SLOTS]>,
    words: Vec<u64>,
    texts: HashMap<Arc<str>, u64>,
    /// The same texts by number, when reading.
    read: Vec<Arc<str>>,
    endings: EndingColumn,
    stacks: StackColumn,
    cpu: CpuColumn,
}

/// The part of it that the index needs.
#[derive(Debug)]
pub(super) struct IndexMemory {
    ends: [i64; THREAD_SLOTS],
    sequences: [u32; SLOTS],
    graphs: GraphColumn,
}

/// Where writing or reading of the column of endings stands.
#[derive(Debug, Default)]
struct EndingColumn {
    /// Calls since the last one that did not return; when reading, calls still to come before the next
    /// one, if that is known.
    without: u64,
    next: Option<u64>,
}

/// Where writing or reading of the column of stacks stands.
#[derive(Debug, Default)]
struct StackColumn {
    /// Of the last call that has one.
    last: u32,
    /// As for endings.
    without: u64,
    next: Option<u64>,
}

/// Where writing or reading of the column of processor times stands: as for endings.
#[derive(Debug, Default)]
struct CpuColumn {
    without: u64,
    next: Option<u64>,
}

/// Where writing or reading of the column of graphs stands.
#[derive(Debug, Default)]
struct GraphColumn {
    /// The last call that had to do with a graph.
    last: GraphRef,
    /// Calls since then; when reading, calls still to come before the next one, if that is known.
    without: u64,
    next: Option<u64>,
}

impl Default for CallMemory {
    fn default() -> Self {
        Self {
            brief: IndexMemory::default(),
            generations: [0; SLOTS],
            args: vec![[0; ARG_SLOTS]; FUNCTION_SLOTS],
            words: vec![0; 1 << WORD_BITS],
            texts: HashMap::new(),
            read: Vec::new(),
            endings: EndingColumn::default(),
            stacks: StackColumn::default(),
            cpu: CpuColumn::default(),
        }
    }
}

impl Default for IndexMemory {
    fn default() -> Self {
        Self {
            ends: [0; THREAD_SLOTS],
            sequences: [0; SLOTS],
            graphs: GraphColumn::default(),
        }
    }
}

impl IndexMemory {
    fn end(&mut self, thread: u32) -> &mut i64 {
        &mut self.ends[thread as usize % THREAD_SLOTS]
    }

    fn sequence(&mut self, stream: Option<u32>) -> &mut u32 {
        &mut self.sequences[stream.unwrap_or(0) as usize % SLOTS]
    }
}

impl CallMemory {
    fn generation(&mut self, event: u32) -> &mut u32 {
        &mut self.generations[event as usize % SLOTS]
    }

    fn arg(&mut self, function: u16, position: usize) -> &mut u64 {
        &mut self.args[usize::from(function) % FUNCTION_SLOTS][position % ARG_SLOTS]
    }
}

impl Table for CallRow {
    const KIND: ChunkKind = *b"CALL";
    const COLUMNS: &'static [ColumnText] = column::ALL;
    const LEAST: usize = column::STACKS;
    const IS_ENTITY: bool = false;
    /// Of a call with its task; arguments come to it.
    const MEMORY: u64 = 240;
    type Memory = CallMemory;

    fn put(&self, columns: &mut Columns, memory: &mut CallMemory) {
        let end = memory.brief.end(self.thread);
        columns.put(column::THREAD, self.thread.into());
        columns.put(column::FUNCTION, self.function.into());
        columns.put_signed(column::BEGIN, self.begin_ns.wrapping_sub(*end));
        columns.put_signed(column::DURATION, self.end_ns.wrapping_sub(self.begin_ns));
        *end = self.end_ns;
        columns.put_signed(column::RET, self.ret);
        columns.put(column::DEPTH, self.depth.into());
        columns.put_option(column::DEVICE, self.device.map(u32::from));
        columns.put_option(column::STREAM, self.stream);
        columns.put_option(column::CONTEXT, self.context);
        columns.put_option(column::EVENT, self.event.map(|(serial, _)| serial));
        if let Some((serial, generation)) = self.event {
            let last = memory.generation(serial);
            columns.put_signed(column::GENERATION, step(*last, generation));
            *last = generation;
        }
        columns.put(
            column::TASK,
            self.task.map_or(0, |task| u64::from(task.kind) + 1),
        );
        if let Some(task) = self.task {
            let last = memory.brief.sequence(self.stream);
            columns.put(column::UNTIMED, task.untimed.into());
            columns.put_signed(column::SEQUENCE, step(*last, task.sequence));
            *last = task.sequence;
        }
        put_args(self, columns, memory);
        put_strings(self, columns, memory);
        memory.brief.graphs.put(self.graph, columns);
        memory.endings.put(self.ending, columns);
        memory.stacks.put(self.stack, columns);
        memory.cpu.put(self.cpu, columns);
    }

    fn take(cursors: &mut Cursors<'_>, memory: &mut CallMemory) -> Option<Self> {
        let mut row = Self::default();
        row.refill(cursors, memory)?;
        Some(row)
    }
}

impl CallRow {
    /// Becomes the next call.
    pub(super) fn refill(
        &mut self,
        cursors: &mut Cursors<'_>,
        memory: &mut CallMemory,
    ) -> Option<()> {
        self.refill_brief(cursors, &mut memory.brief)?;
        self.context = cursors.take_option(column::CONTEXT)?;
        self.event = match cursors.take_option(column::EVENT)? {
            Some(serial) => Some((serial, take_generation(serial, cursors, memory)?)),
            None => None,
        };
        take_args(self.function, &mut self.args, cursors, memory)?;
        take_strings(&mut self.strings, cursors, memory)?;
        self.ending = memory.endings.take(cursors)?;
        self.stack = memory.stacks.take(cursors)?;
        self.cpu = memory.cpu.take(cursors)?;
        Some(())
    }

    /// Becomes the next call but for its context, event, arguments, texts, ending, stack and processor time: the index needs none of
    /// these.
    #[inline]
    pub(super) fn refill_brief(
        &mut self,
        cursors: &mut Cursors<'_>,
        memory: &mut IndexMemory,
    ) -> Option<()> {
        self.thread = cursors.take_as(column::THREAD)?;
        let end = memory.end(self.thread);
        self.begin_ns = end.wrapping_add(cursors.take_signed(column::BEGIN)?);
        self.end_ns = self
            .begin_ns
            .wrapping_add(cursors.take_signed(column::DURATION)?);
        *end = self.end_ns;
        self.stream = cursors.take_option(column::STREAM)?;
        self.function = cursors.take_as(column::FUNCTION)?;
        self.ret = cursors.take_signed(column::RET)?;
        self.depth = cursors.take_as(column::DEPTH)?;
        self.device = match cursors.take_option(column::DEVICE)? {
            Some(device) => Some(u8::try_from(device).ok()?),
            None => None,
        };
        self.task = match cursors.take(column::TASK)? {
            0 => None,
            next => Some(take_task(next - 1, self.stream, cursors, memory)?),
        };
        self.graph = memory.graphs.take(cursors)?;
        Some(())
    }
}

fn take_generation(serial: u32, cursors: &mut Cursors<'_>, memory: &mut CallMemory) -> Option<u32> {
    let last = memory.generation(serial);
    *last = stepped(*last, cursors.take_signed(column::GENERATION)?)?;
    Some(*last)
}

fn take_task(
    kind: u64,
    stream: Option<u32>,
    cursors: &mut Cursors<'_>,
    memory: &mut IndexMemory,
) -> Option<TaskRow> {
    let last = memory.sequence(stream);
    *last = stepped(*last, cursors.take_signed(column::SEQUENCE)?)?;
    Some(TaskRow {
        sequence: *last,
        kind: u8::try_from(kind).ok()?,
        untimed: cursors.take_as(column::UNTIMED)?,
    })
}

fn put_args(row: &CallRow, columns: &mut Columns, memory: &mut CallMemory) {
    columns.put(column::ARG_COUNT, row.args.len().min(MAX_ARGS) as u64);
    for (position, &arg) in row.args.iter().take(MAX_ARGS).enumerate() {
        let last = std::mem::replace(memory.arg(row.function, position), arg);
        if arg == last {
            columns.put(column::ARG_CODES, SAME);
            continue;
        }
        let place = place_of(arg);
        let known = &mut memory.words[place];
        if *known == arg {
            columns.put(column::ARG_CODES, place as u64 + KNOWN);
        } else {
            *known = arg;
            columns.put(column::ARG_CODES, NEW);
            columns.put_signed(column::ARGS, arg.wrapping_sub(last).cast_signed());
        }
    }
}

fn take_args(
    function: u16,
    args: &mut Vec<u64>,
    cursors: &mut Cursors<'_>,
    memory: &mut CallMemory,
) -> Option<()> {
    let count = usize::from(cursors.take_as::<u8>(column::ARG_COUNT)?);
    cursors.note(2 * count * size_of::<u64>());
    args.clear();
    args.reserve(count);
    for position in 0..count {
        let code = cursors.take(column::ARG_CODES)?;
        let last = *memory.arg(function, position);
        let arg = match code {
            SAME => last,
            NEW => {
                let arg = last.wrapping_add(cursors.take_signed(column::ARGS)?.cast_unsigned());
                memory.words[place_of(arg)] = arg;
                arg
            }
            known => *memory.words.get(usize::try_from(known - KNOWN).ok()?)?,
        };
        *memory.arg(function, position) = arg;
        args.push(arg);
    }
    Some(())
}

/// Where a word is remembered; one that shares its place displaces it.
fn place_of(word: u64) -> usize {
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - WORD_BITS)) as usize
}

fn put_strings(row: &CallRow, columns: &mut Columns, memory: &mut CallMemory) {
    columns.put(column::STRING_COUNT, row.strings.len().min(MAX_ARGS) as u64);
    for text in row.strings.iter().take(MAX_ARGS) {
        let Some(text) = text else {
            columns.put(column::STRINGS, 0);
            continue;
        };
        match memory.texts.get(text) {
            Some(number) => columns.put(column::STRINGS, number + 2),
            None => {
                columns.put(column::STRINGS, 1);
                columns.put_text(column::TEXTS, text);
                let number = memory.texts.len() as u64;
                memory.texts.insert(Arc::clone(text), number);
            }
        }
    }
}

fn take_strings(
    strings: &mut Vec<Option<Arc<str>>>,
    cursors: &mut Cursors<'_>,
    memory: &mut CallMemory,
) -> Option<()> {
    let count = usize::from(cursors.take_as::<u8>(column::STRING_COUNT)?);
    cursors.note(2 * count * size_of::<Option<Arc<str>>>());
    strings.clear();
    strings.reserve(count);
    for _ in 0..count {
        strings.push(match cursors.take(column::STRINGS)? {
            0 => None,
            1 => {
                let text = Arc::<str>::from(cursors.take_text(column::TEXTS)?);
                memory.read.push(Arc::clone(&text));
                Some(text)
            }
            next => Some(Arc::clone(
                memory.read.get(usize::try_from(next - 2).ok()?)?,
            )),
        });
    }
    Some(())
}

impl GraphColumn {
    fn put(&mut self, graph: Option<GraphRef>, columns: &mut Columns) {
        let Some(graph) = graph else {
            self.without += 1;
            return;
        };
        let last = std::mem::replace(&mut self.last, graph);
        columns.keep_each(column::GRAPHS);
        columns.put(column::GRAPHS, std::mem::take(&mut self.without));
        columns.put_signed(column::GRAPHS, step(last.serial, graph.serial));
        columns.put_signed(column::GRAPHS, step(last.index, graph.index));
    }

    /// The relation of the next call to a graph. The outer `None` is a column that makes no sense.
    fn take(&mut self, cursors: &mut Cursors<'_>) -> Option<Option<GraphRef>> {
        let between = match self.next.take() {
            Some(between) => between,
            None if cursors.is_at_end(column::GRAPHS) => return Some(None),
            None => cursors.take(column::GRAPHS)?,
        };
        if let Some(left) = between.checked_sub(1) {
            self.next = Some(left);
            return Some(None);
        }
        let last = &mut self.last;
        last.serial = stepped(last.serial, cursors.take_signed(column::GRAPHS)?)?;
        last.index = stepped(last.index, cursors.take_signed(column::GRAPHS)?)?;
        Some(Some(*last))
    }
}

impl EndingColumn {
    fn put(&mut self, ending: Ending, columns: &mut Columns) {
        if ending.is_return() {
            self.without += 1;
            return;
        }
        columns.keep_each(column::ENDINGS);
        columns.put(column::ENDINGS, std::mem::take(&mut self.without));
        columns.put(column::ENDINGS, ending as u64);
    }

    /// How the next call ended; `None` for a column that makes no sense.
    fn take(&mut self, cursors: &mut Cursors<'_>) -> Option<Ending> {
        let between = match self.next.take() {
            Some(between) => between,
            None if cursors.is_at_end(column::ENDINGS) => return Some(Ending::Returned),
            None => cursors.take(column::ENDINGS)?,
        };
        if let Some(left) = between.checked_sub(1) {
            self.next = Some(left);
            return Some(Ending::Returned);
        }
        Ending::from_code(cursors.take_as(column::ENDINGS)?)
    }
}

impl StackColumn {
    fn put(&mut self, stack: Option<u32>, columns: &mut Columns) {
        let Some(stack) = stack else {
            self.without += 1;
            return;
        };
        let last = std::mem::replace(&mut self.last, stack);
        columns.keep_each(column::STACKS);
        columns.put(column::STACKS, std::mem::take(&mut self.without));
        columns.put_signed(column::STACKS, step(last, stack));
    }

    /// The next call's stack. The outer `None` is a column that makes no sense.
    fn take(&mut self, cursors: &mut Cursors<'_>) -> Option<Option<u32>> {
        let between = match self.next.take() {
            Some(between) => between,
            None if cursors.is_at_end(column::STACKS) => return Some(None),
            None => cursors.take(column::STACKS)?,
        };
        if let Some(left) = between.checked_sub(1) {
            self.next = Some(left);
            return Some(None);
        }
        self.last = stepped(self.last, cursors.take_signed(column::STACKS)?)?;
        Some(Some(self.last))
    }
}

impl CpuColumn {
    fn put(&mut self, cpu: Option<CpuTime>, columns: &mut Columns) {
        let Some(cpu) = cpu else {
            self.without += 1;
            return;
        };
        let (used, over, blocks) = cpu.numbers();
        columns.keep_each(column::CPU);
        columns.put(column::CPU, std::mem::take(&mut self.without));
        columns.put(column::CPU, used.into());
        columns.put(column::CPU, (over - used).into());
        columns.put(column::CPU, blocks.into());
    }

    /// The next call's processor time. The outer `None` is a column that makes no sense.
    fn take(&mut self, cursors: &mut Cursors<'_>) -> Option<Option<CpuTime>> {
        let between = match self.next.take() {
            Some(between) => between,
            None if cursors.is_at_end(column::CPU) => return Some(None),
            None => cursors.take(column::CPU)?,
        };
        if let Some(left) = between.checked_sub(1) {
            self.next = Some(left);
            return Some(None);
        }
        let used = cursors.take(column::CPU)?;
        let over = used.checked_add(cursors.take(column::CPU)?)?;
        CpuTime::of_numbers(used, over, cursors.take(column::CPU)?).map(Some)
    }
}

fn step(last: u32, next: u32) -> i64 {
    i64::from(next) - i64::from(last)
}

fn stepped(last: u32, step: i64) -> Option<u32> {
    u32::try_from(i64::from(last).checked_add(step)?).ok()
}
