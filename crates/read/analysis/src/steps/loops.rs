//! The loops of one thread.

use ascend_trace_recording::ThreadId;
use rustc_hash::FxHashSet;

use super::cuts::parts;
use super::folded::folded;
use super::measured::measured;
use super::process_steps::{LoopSteps, Origin};
use super::repetition::{Rhythm, Sign, rhythm};
use super::sequence::{RequestedOperation, Sequence};
use super::shared::ThreadGroups;
use super::symbols::{NO_STREAM, SymbolKind, Symbols};

/// A loop that does one thing alone has no steps; a launch of a graph may be one.
const SHORTEST: usize = 2;

/// Waits of a thread for no single stream, where it has a loop for each of several streams: at the begin and the end.
const FEW_WAITS: usize = 4;

/// Streams that may have a separate loop.
const STREAMS: usize = 8;

/// The loops of a thread. Those that are not the first of their process must compute: a thread that only copies works for
/// others.
pub(super) fn laps(
    thread: ThreadId,
    symbols: &Symbols,
    shared: &ThreadGroups,
    sequence: Sequence,
    is_first: bool,
) -> Vec<LoopSteps> {
    let several = separate(thread, symbols, shared, &sequence);
    let laps = match several.is_empty() {
        true => found(thread, symbols, sequence).into_iter().collect(),
        false => several,
    };
    let is_wanted = |it: &FoundLoop| is_first || it.computes;
    let laps = laps.into_iter().filter(is_wanted);
    laps.map(|it| it.lap).collect()
}

/// A loop, and the contents of each step.
struct FoundLoop {
    lap: LoopSteps,
    content: FxHashSet<u32>,
    computes: bool,
}

fn found(thread: ThreadId, symbols: &Symbols, mut sequence: Sequence) -> Option<FoundLoop> {
    // It does not matter on which streams the work is.
    let all = sequence.entries.iter_mut();
    all.for_each(|it| it.symbol = symbols.shape(it.symbol));
    let sign = |symbol: u32| sign(symbols.kind(symbol));
    let (origin, rhythm, entries) = match repeated(symbols, &sequence.entries) {
        Some((origin, rhythm)) => (origin, rhythm, None),
        None => {
            // Else the number of micro-batches may differ, each with its data.
            let is_of_step = |symbol: u32| match sign(symbol) {
                Sign::Load => Sign::None,
                other => other,
            };
            let found = repeated_folded(&sequence.entries, sign, sign);
            let found = found.or_else(|| repeated_folded(&sequence.entries, is_of_step, sign));
            let (rhythm, entries) = found?;
            (Origin::Sequence, rhythm, Some(entries))
        }
    };
    let entries = entries.as_deref().unwrap_or(&sequence.entries);
    let parts = parts(entries, symbols, &rhythm);
    let kind = |it: &RequestedOperation| symbols.kind(it.symbol);
    let lengths = sequence.lengths.by_shape(symbols);
    let measured = measured(entries, &parts, (sequence.ran_until, &lengths), kind);
    let from = rhythm.places[rhythm.model] as usize;
    let content = &entries[from..from + rhythm.period];
    let content: FxHashSet<u32> = content.iter().map(|it| it.symbol).collect();
    (!measured.cuts.is_empty()).then(|| FoundLoop {
        computes: content.iter().any(|it| symbols.kind(*it).computes()),
        content,
        lap: LoopSteps {
            origin,
            clock: measured.clock,
            left_out: measured.left_out,
            thread,
            cuts: measured.cuts,
        },
    })
}

fn repeated(symbols: &Symbols, entries: &[RequestedOperation]) -> Option<(Origin, Rhythm)> {
    let row = row(entries);
    let is_graph = |symbol: u32| symbols.kind(symbol) == SymbolKind::Graph;
    let sign = |symbol: u32| sign(symbols.kind(symbol));
    let graphs = rhythm(&row, 1, is_graph, sign).map(|it| (Origin::Graph, it));
    graphs.or_else(|| {
        let found = rhythm(&row, SHORTEST, |_| true, sign)?;
        Some((Origin::Sequence, found))
    })
}

/// What repeats where blocks without a sign of a step count once, with the entries that are left. It has a sign.
fn repeated_folded(
    entries: &[RequestedOperation],
    of_block: impl Fn(u32) -> Sign,
    sign: impl Fn(u32) -> Sign,
) -> Option<(Rhythm, Vec<RequestedOperation>)> {
    let entries = folded(entries, of_block)?;
    let row = row(&entries);
    let found = rhythm(&row, SHORTEST, |_| true, &sign)?;
    let from = found.places[found.model] as usize;
    let mut content = row[from..from + found.period].iter();
    let has_sign = content.any(|it| sign(*it) > Sign::None);
    has_sign.then_some((found, entries))
}

fn row(entries: &[RequestedOperation]) -> Vec<u32> {
    entries.iter().map(|it| it.symbol).collect()
}

fn sign(kind: SymbolKind) -> Sign {
    match kind {
        it if it.loads() => Sign::Load,
        it if it.waits() => Sign::Wait,
        SymbolKind::Copy => Sign::Copy,
        _ => Sign::None,
    }
}

/// The loops of a thread that runs several in turn. Each has a stream without an order to the others, with separate work for
/// which the thread waits. None if there is one loop, also if it uses several streams for the same work.
fn separate(
    thread: ThreadId,
    symbols: &Symbols,
    shared: &ThreadGroups,
    sequence: &Sequence,
) -> Vec<FoundLoop> {
    let entries = &sequence.entries;
    let streams: FxHashSet<u32> = entries.iter().map(|it| symbols.stream(it.symbol)).collect();
    let mut streams: Vec<u32> = streams.into_iter().filter(|it| *it != NO_STREAM).collect();
    streams.sort_unstable();
    let others = entries
        .iter()
        .filter(|it| symbols.stream(it.symbol) == NO_STREAM);
    if !(2..=STREAMS).contains(&streams.len())
        || others.count() > FEW_WAITS
        || !streams.iter().all(|it| shared.is_alone(*it))
    {
        return Vec::new();
    }
    let mut loops: Vec<FoundLoop> = Vec::new();
    for stream in streams {
        let own = entries
            .iter()
            .filter(|it| symbols.stream(it.symbol) == stream);
        let own = Sequence {
            entries: own.copied().collect(),
            ran_until: None,
            lengths: sequence.lengths.clone(),
        };
        let waits = |it: &RequestedOperation| symbols.kind(it.symbol).waits();
        let is_waited_for = own.entries.iter().any(waits);
        let found = found(thread, symbols, own).filter(|it| it.computes && is_waited_for);
        let Some(found) = found.filter(|it| loops.iter().all(|one| one.content != it.content))
        else {
            return Vec::new();
        };
        loops.push(found);
    }
    loops
}
