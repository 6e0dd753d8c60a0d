//! The loops of one thread.

use ascend_trace_recording::ThreadId;
use rustc_hash::{FxHashMap, FxHashSet};

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
        true => found(thread, symbols, shared, sequence)
            .into_iter()
            .collect(),
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

fn found(
    thread: ThreadId,
    symbols: &Symbols,
    shared: &ThreadGroups,
    mut sequence: Sequence,
) -> Option<FoundLoop> {
    let together = on_several_devices(symbols, shared, &sequence.entries);
    let is_together = together.is_some();
    let shape = |symbol: u32| match is_together {
        true => symbols.device_shape(symbol),
        false => symbols.shape(symbol),
    };
    // It does not matter on which streams the work is.
    reshape(&mut sequence.entries, shape);
    let (origin, rhythm, folded) = match together {
        Some((origin, rhythm)) => (origin, rhythm, None),
        None => on_any_device(symbols, &sequence.entries)?,
    };
    let entries = folded.as_deref().unwrap_or(&sequence.entries);
    let parts = parts(entries, symbols, &rhythm);
    let kind = |it: &RequestedOperation| symbols.kind(it.symbol);
    let lengths = sequence.lengths.by_shape(shape);
    let measured = measured(entries, &parts, (sequence.ran_until, &lengths), kind);
    let content = content(entries, &rhythm);
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

fn reshape(entries: &mut [RequestedOperation], shape: impl Fn(u32) -> u32) {
    entries
        .iter_mut()
        .for_each(|it| it.symbol = shape(it.symbol));
}

/// The usual content.
fn content<'e>(entries: &'e [RequestedOperation], rhythm: &Rhythm) -> &'e [RequestedOperation] {
    let from = rhythm.places[rhythm.model] as usize;
    &entries[from..from + rhythm.period]
}

/// What repeats where devices have no part in it. With the entries that are left, if some were left out.
fn on_any_device(
    symbols: &Symbols,
    entries: &[RequestedOperation],
) -> Option<(Origin, Rhythm, Option<Vec<RequestedOperation>>)> {
    if let Some((origin, rhythm)) = repeated(symbols, entries) {
        return Some((origin, rhythm, None));
    }
    // Else the number of micro-batches may differ, each with its data.
    let sign = |symbol: u32| sign(symbols.kind(symbol));
    let is_of_step = |symbol: u32| match sign(symbol) {
        Sign::Load => Sign::None,
        other => other,
    };
    let found = repeated_folded(entries, sign, sign);
    let found = found.or_else(|| repeated_folded(entries, is_of_step, sign));
    let (rhythm, entries) = found?;
    Some((Origin::Sequence, rhythm, Some(entries)))
}

/// What repeats where a thread gives several devices the same work at a time: that is one step, and not one for each device.
fn on_several_devices(
    symbols: &Symbols,
    shared: &ThreadGroups,
    entries: &[RequestedOperation],
) -> Option<(Origin, Rhythm)> {
    let computing = entries
        .iter()
        .filter(|it| symbols.kind(it.symbol).computes());
    let devices: FxHashSet<_> = computing.map(|it| symbols.device(it.symbol)).collect();
    if devices.len() < 2 {
        return None;
    }
    let mut own = entries.to_vec();
    reshape(&mut own, |symbol| symbols.device_shape(symbol));
    let (origin, rhythm) = repeated(symbols, &own)?;
    let content = content(&own, &rhythm).iter().map(|it| it.symbol);
    let is_one = is_one_step(symbols, shared, &content.collect::<Vec<_>>());
    is_one.then_some((origin, rhythm))
}

/// Whether the usual content is one step on several devices: each computes the same, the thread does not wait between most of their
/// work, and something joins it.
fn is_one_step(symbols: &Symbols, shared: &ThreadGroups, content: &[u32]) -> bool {
    let computes = |it: &&u32| symbols.kind(**it).computes();
    let mut of_devices: FxHashMap<Option<u32>, Vec<u32>> = FxHashMap::default();
    for symbol in content.iter().filter(computes) {
        let own = of_devices.entry(symbols.device(*symbol)).or_default();
        own.push(symbols.shape(*symbol));
    }
    of_devices.values_mut().for_each(|it| it.sort_unstable());
    let mut works = of_devices.values();
    let first = works.next();
    let are_alike = works.len() > 0 && works.all(|it| Some(it) == first);
    let waits = |it: &u32| symbols.kind(*it).waits();
    let first_wait = content.iter().position(waits);
    let is_joined = || {
        let mut computing = content.iter().filter(computes);
        computing.all(|it| !shared.is_alone(symbols.stream(*it)))
    };
    if !are_alike || first_wait.is_none() && !is_joined() {
        return false;
    }
    // The content comes again and again, so it may be taken from any wait on.
    let mut content = content.to_vec();
    content.rotate_left(first_wait.unwrap_or(0));
    let mut between = content.split(waits);
    between.any(|part| {
        let most = |device: &Option<u32>, all: &Vec<u32>| {
            let own = part.iter().filter(computes);
            let own = own.filter(|it| symbols.device(**it) == *device);
            own.count() * 2 >= all.len()
        };
        of_devices.iter().all(|(device, all)| most(device, all))
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
    let mut usual = content(&entries, &found).iter();
    let has_sign = usual.any(|it| sign(it.symbol) > Sign::None);
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
        let found = found(thread, symbols, shared, own).filter(|it| it.computes && is_waited_for);
        let Some(found) = found.filter(|it| loops.iter().all(|one| one.content != it.content))
        else {
            return Vec::new();
        };
        loops.push(found);
    }
    loops
}
