//! The list of all checks.

use super::{Check, Severity};

/// A check, with its page of the manual.
pub struct ListedCheck {
    /// Its name in tables, in JSON and on the command line.
    pub id: &'static str,
    pub severity: Severity,
    /// What its findings are, in one line.
    pub summary: &'static str,
    pub check: Box<dyn Check>,
    /// Paragraphs of plain text in Markdown.
    pub manual: String,
}

macro_rules! list {
    ($($file:literal $module:ident $check:ident $id:literal $severity:ident $summary:literal,)*) => {
        $(
            #[path = $file]
            mod $module;
        )*

        /// All checks, by name.
        pub fn all() -> Vec<ListedCheck> {
            vec![$(
                ListedCheck {
                    id: $id,
                    severity: Severity::$severity,
                    summary: $summary,
                    check: Box::new($module::$check::default()),
                    manual: manual(include_str!($file)),
                },
            )*]
        }
    };
}

list! {
    "call_in_callback.rs" call_in_callback CallInCallback "call-in-callback" Warning
        "calls in a callback that may wait for the callback itself",
    "copies_in_turn.rs" copies_in_turn CopiesInTurn "copies-in-turn" Info
        "copies in both directions on one stream, which never overlap",
    "copy_not_awaited.rs" copy_not_awaited CopyNotAwaited "copy-not-awaited" Warning
        "copies to the host for which nothing waited until the program ended",
    "data_race.rs" data_race DataRace "data-race" Error
        "uses of the same memory that nothing puts in order",
    "destroyed_while_waited.rs" destroyed_while_waited DestroyedWhileWaited "destroyed-while-waited" Error
        "events that were destroyed while a thread waited for them",
    "destroyed_with_work.rs" destroyed_with_work DestroyedWithWork "destroyed-with-work" Warning
        "streams that were ended without their tasks",
    "device_sync.rs" device_sync DeviceSync "device-sync" Info
        "device syncs that waited for one stream",
    "failed_call.rs" failed_call FailedCall "failed-call" Warning
        "calls that returned an error",
    "failed_capture.rs" failed_capture FailedCapture "failed-capture" Error
        "captures of graphs that failed, and why",
    "freed_in_use.rs" freed_in_use FreedInUse "freed-in-use" Error
        "memory that was given back while a task could still use it",
    "freed_under_graph.rs" freed_under_graph FreedUnderGraph "freed-under-graph" Error
        "replays of graphs after memory that they use was given back",
    "leak.rs" leak Leak "leak" Info
        "streams, events, contexts, graphs and memory that were not given back",
    "made_each_round.rs" made_each_round MadeEachRound "made-each-round" Info
        "memory that is allocated and given back again and again",
    "memory_growth.rs" memory_growth MemoryGrowth "memory-growth" Warning
        "memory that grows from step to step and never comes back",
    "near_limit.rs" near_limit NearLimit "near-limit" Info
        "many streams or events at a time, near the limit of a device",
    "needless_wait.rs" needless_wait NeedlessWait "needless-wait" Info
        "waits of streams for work that comes before anyway",
    "out_of_memory.rs" out_of_memory OutOfMemory "out-of-memory" Warning
        "allocations that failed, and what held the memory",
    "pageable_copy.rs" pageable_copy PageableCopy "pageable-copy" Warning
        "asynchronous copies of pageable memory, which the host does itself",
    "recorded_while_waited.rs" recorded_while_waited RecordedWhileWaited "recorded-while-waited" Warning
        "events that were recorded again while a thread waited for them",
    "recorded_without_reset.rs" recorded_without_reset RecordedWithoutReset "recorded-without-reset" Warning
        "waits for events that were recorded again without a reset",
    "refused_in_capture.rs" refused_in_capture RefusedInCapture "refused-in-capture" Warning
        "calls that a capture refused, although the capture succeeded",
    "reset_while_waited.rs" reset_while_waited ResetWhileWaited "reset-while-waited" Warning
        "events that were reset while a stream could still wait for them",
    "shared_stream.rs" shared_stream SharedStream "shared-stream" Info
        "submissions of two threads to one stream at the same time",
    "short_lived.rs" short_lived ShortLived "short-lived" Info
        "streams, events and graphs that are made again instead of being reused",
    "small_copies.rs" small_copies SmallCopies "small-copies" Info
        "thousands of copies of a few bytes",
    "streams_in_turn.rs" streams_in_turn StreamsInTurn "streams-in-turn" Info
        "streams that the host uses in turn, so that their work never overlaps",
    "sync_each_task.rs" sync_each_task SyncEachTask "sync-each-task" Info
        "waits of the host after each of many short tasks",
    "unrecorded_event.rs" unrecorded_event UnrecordedEvent "unrecorded-event" Error
        "waits for events that had not been recorded, which wait for nothing",
    "unserved_callback.rs" unserved_callback UnservedCallback "unserved-callback" Error
        "callbacks that no thread of the program could run",
    "unwritten_read.rs" unwritten_read UnwrittenRead "unwritten-read" Warning
        "copies to the host of memory that nothing had written",
    "used_after_end.rs" used_after_end UsedAfterEnd "used-after-end" Error
        "uses of streams, events, contexts and memory that had been ended",
}

/// The comment at the top of a file.
fn manual(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<&str> = lines
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    lines.join("\n")
}
