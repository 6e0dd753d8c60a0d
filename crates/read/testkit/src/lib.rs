//! Building blocks of tests: traces written as text, files written byte by byte ([`bytes`]), and random
//! programs with their expected output ([`captures`]).
//!
//! [`timeline()`] turns a few lines of text into a [`Trace`](ascend_trace_recording::Trace). The text
//! becomes rows, and the rows go through the same loader as those of a file, so a test sees what
//! a user would see.
//!
//! # The timeline language
//!
//! A text is a list of *lanes*, separated by `|` or a line break. A lane is a name, a colon, and
//! its items in order. `//` begins a comment. A lane may be continued by naming it again.
//!
//! ```
//! use ascend_trace_testkit::timeline;
//!
//! let trace = timeline(
//!     "s1: MatMul[0..10] rec(E1)            // stream 1 of device 0
//!      s2: wait(E1) Add[12..20]
//!      t1: sync(s2)[13..21]                 // host thread 1",
//! );
//! assert_eq!(trace.streams().len(), 2);
//! assert_eq!(trace.tasks().len(), 4);
//! ```
//!
//! ```text
//! lane    = [ "p" N "." ] "s" N [ "@" DEVICE ] [ "by" "t" N ] ":" { task }    a stream
//!         | [ "p" N "." ] "t" N ":" { call }                                  a host thread
//!
//! task    = NAME [ numbers ] time         the task of a function NAME: a kernel, unless known
//!         | KIND [ numbers ] time         KIND: memcpy memset hostfunc graph notify value other
//!         | "rec" "(" EVENT ")" [ time ]
//!         | "wait" "(" event ")" [ time ]
//!         | "reset" "(" EVENT ")" [ time ]
//!           … each followed by [ "by" "t" N "[" BEGIN ".." END "]" ] [ "of" "g" N ] [ "=" CODE ]
//!
//! call    = "sync" "(" [ "s" N | event ] ")" span      of a stream, an event, or the device
//!         | "query" "(" ( "s" N | event ) [ "," STATUS ] ")" span    gives a status, by default that of a finished object
//!         | "capture" "(" "s" N ")" span               begins a capture
//!         | "end" "(" "s" N ")" span                   ends it
//!         | "create" "(" ( "s" N | EVENT ) ")" span    makes a stream or an event
//!         | "destroy" "(" ( "s" N | EVENT ) ")" span   ends it
//!         | "force" "(" "s" N ")" span                 ends a stream without waiting for its tasks
//!         | "subscribe" "(" "s" N "," "t" N ")" span   the thread will run the stream's callbacks
//!         | "unsubscribe" "(" "s" N "," "t" N ")" span
//!         | NAME [ numbers ] span                      any other function
//!           … each followed by [ "of" "g" N ] [ "=" CODE ]
//!
//! event   = EVENT [ "#" GENERATION ]
//! numbers = "(" NUMBER { "," NUMBER } ")"
//! span    = "[" BEGIN ".." END "]"      in a call also "[" BEGIN ".." END "?" "]"
//! time    = span | "[" AT "]" | "[" "?" "]" | "[" REASON "]"
//! ```
//!
//! **Numbers** are host nanoseconds (`CLOCK_MONOTONIC`) and may have a unit and a sign: `10`,
//! `10us`, `-3ms`, `1s`. Names are letters, digits and `_`; an event's is any name that does not
//! look like a stream's.
//!
//! **Processes** are numbered by `p`; without it a lane belongs to process 1. **Streams** carry
//! their number as serial and as AscendCL's id; `s0` is a default stream. The number is unique
//! within the process, over all devices; `@` is needed only once for a stream, and the device
//! is 0 without it.
//!
//! **Times.** The tasks of a stream must not overlap. `[a..b]` is when a task ran, `[a]` is short
//! for `[a..a]`. `[?]` has no time *yet* (the trace then has no end: it is still being recorded),
//! `[captured]` or another of [`Untimed`](ascend_trace_format::api::Untimed)'s names has none for
//! that reason. A `rec` without a time happens where the task before it on the stream ended, or at
//! 0, but not before the launch call that is written after it; a `wait` without a time begins by the
//! same rule, and ends then or with the record it waits for: the later of the two.
//!
//! **Generations.** The n-th `rec(E)` in reading order makes generation n of `E`. `wait(E)`,
//! `sync(E)` and `query(E)` are bound to the last `rec(E)` that precedes them in reading order; to
//! refer to another, write `E#2`; `E#0` is an event that was not recorded.
//!
//! **Functions.** Timelines know some functions of AscendCL by name, with their arguments and the
//! kind of their tasks (`functions.rs` lists them); any other name is a kernel's on a stream, and a
//! call without a meaning on a thread. Numbers in parentheses are the moved bytes and then
//! the other arguments in turn, streams and events left out: `memcpy(64,4096,8192)` copies 64 bytes from 8192
//! to 4096, `aclrtMalloc(64,4096)` makes 64 bytes there, `aclrtWaitAndResetNotify(7)` waits for
//! notify 7, `aclrtValueWait(64,5,1)` for the value at 64 to equal 5, `HcclAllReduce(1,1024)` is a
//! collective of communicator 1 on 1024 elements, `HcclBroadcast(1,1024,4,0)` one on as many numbers of
//! 32 bits that rank 0 has, and `HcclCommInitRootInfo(8,3,1)` makes rank 3 of 8 of communicator 1.
//! `aclnnAddGetWorkspaceSize(7)` on a thread plans the operator that the task `aclnnAdd(7)` submits.
//!
//! **Launch calls.** Every task has a call that submitted it. `by t2[3..5]` after the task gives
//! its thread and times. Otherwise the call is made by thread `t1`, or by the one named in the
//! lane's own `by`, lasts 1 ns, and ends as late as it can: not after its task begins, not after
//! the next call of the thread or a later submission to the stream, a record before the waits
//! bound to it, and never inside a call that is written out on that thread.
//!
//! **Graphs** are numbered by `g` within a process: the number is the serial. A task that is `[captured]`
//! and `of g1` is the next node of that graph, any other task its next replay, in the order in
//! which the launch calls end. With a result other than 0 it was refused: then no task exists.
//!
//! **Nesting.** A call within another of the same thread is its child. **Results.** `=507000`
//! makes a call return that code. **Open calls.** `[a..b?]` has not returned at `b`, the last time at which the
//! recorder looked (the trace then has no end).
//!
//! ```
//! use ascend_trace_testkit::timeline;
//!
//! // Two processes; a copy of 4 KiB submitted early; a stream that is captured; a failed call.
//! timeline(
//!     "p1.s3@1: memcpy(4096)[10us..14us] by t2[1us..2us] | p1.t2: aclrtMalloc(64)[3us..9us]=207001
//!      p2.s1 by t4: MatMul[captured] Add[captured]",
//! );
//! ```
//!
//! ```
//! use ascend_trace_testkit::timeline;
//!
//! // A copy is captured, and the graph replayed twice.
//! timeline(
//!     "t1: capture(s1)[0..1] of g1 end(s1)[4..5] of g1
//!      s1: memcpy[captured] by t1[2..3] of g1 graph[10..20] of g1 graph[20..30] of g1",
//! );
//! ```
//!
//! A mistake in the text is reported with its line and column.

pub mod bombs;
pub mod bytes;
pub mod captures;
pub mod cluster;
pub mod compiled;
pub mod oracle;
pub mod racy;
pub mod recording;
pub mod scenario;
mod timeline;
pub mod whole;
pub mod workload;

pub use timeline::{Timeline, TimelineError, timeline};
