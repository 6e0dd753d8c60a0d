//! The list of all checks.

use super::{Check, Severity};

/// A check, with its page of the manual.
pub struct Entry {
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
        pub fn all() -> Vec<Entry> {
            vec![$(
                Entry {
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
    "near_limit.rs" near_limit NearLimit "near-limit" Info
        "many streams or events at a time, near the limit of a device",
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
        "streams and events that are made again instead of being reused",
    "unrecorded_event.rs" unrecorded_event UnrecordedEvent "unrecorded-event" Error
        "waits for events that had not been recorded, which wait for nothing",
    "unserved_callback.rs" unserved_callback UnservedCallback "unserved-callback" Error
        "callbacks that no thread of the program could run",
    "used_after_end.rs" used_after_end UsedAfterEnd "used-after-end" Error
        "uses of streams, events and contexts that had been ended",
}

/// The comment at the top of a file.
fn manual(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<&str> = lines
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    lines.join("\n")
}
