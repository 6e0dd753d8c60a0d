//! The integration tests: one binary, one module a topic. All of them go through the built
//! command and through real programs: the examples, and those of `tests/programs`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

/// Reports of steps and of the critical path.
mod advice;
/// Crates depend on each other in one direction only.
mod architecture;
/// Waits of a process, queried by its number or by a signal.
mod asking;
mod attach;
/// The layer below AscendCL.
mod below;
/// The time that events take with a budget.
mod budget;
/// Causes of idle time on random programs, and links of waits, against the truth and an oracle.
mod causes;
/// Mistakes of programs, and programs without one.
mod checks;
/// The tests again, on every card that the software runtime imitates.
mod chips;
/// The Chrome JSON agrees with the tables, in a form that importers accept.
mod chrome;
mod communication;
/// The conformance cases of the software runtime.
#[path = "../../crates/soft/runtime/tests/it/cases.rs"]
mod conformance_cases;
/// Exit codes, streams, names of files: what scripts rely on.
mod contract;
/// The reported tracer overhead.
mod cost;
/// Control of a running recording.
mod ctl;
/// Many recordings as one dataset.
mod dataset;
/// Times of a made-up workload, each compared with the true one.
mod device_time;
/// Readings of devices' clocks by the driver.
mod driver_clock;
/// Calls of patched functions are intercepted from every caller.
mod engine;
/// Printed errors of durations of made-up programs, compared with the truth.
mod estimates;
/// Every example, compared with its counts and with the true device times.
mod examples;
/// Recordings of selected calls.
mod filters;
/// Mistakes and costs other than races, and programs without them.
mod findings;
/// Folders as torch_npu's profiler writes them, of one process.
mod folders;
/// Captured graphs, replays, and captures that fail.
mod graphs;
mod growth;
/// Times of the hardware's own log.
mod hardware;
/// Programs, surroundings and files that were made to break a tracer.
mod host_functions;
mod hostile;
/// Streams, kernels, ranks and cards are the same in every format.
mod identity;
/// The cost of a recorded call, as a count.
mod instructions;
/// A program that is killed loses no call that had returned.
mod kill;
/// Steps of loops that are hard to find.
mod loops;
#[cfg(feature = "mcp")]
mod mcp;
/// Memory of devices, by the count of the runtime.
mod memory;
/// Recordings of several ranks in one file.
mod merge;
/// Messages about wrong input, for every command.
mod messages;
/// What Prometheus reads of a program while it is recorded.
mod metrics;
/// MindSpore, where a variable names an interpreter that has it.
mod mindspore;
/// A recording inside a recording.
mod nested;
/// Times of programs with a host that never rests.
mod never_pausing;
/// Datasets in object stores.
mod object_store;
/// A model of ONNX Runtime.
mod onnx_runtime;
/// A page in a browser fetches a trace from `open`.
mod opening;
mod other_threads;
/// Processor times of threads outside AscendCL.
mod pause_work;
/// Programs that pause their own recording.
mod pausing;
/// Pictures of the timeline.
mod pictures;
/// One trace for a whole tree of processes.
mod processes;
/// The hook inside interpreters of Python.
mod python;
/// The module for Python programs.
mod python_module;
/// SQL over trace files and datasets.
mod query;
/// Folders of exports, and what their readers find.
mod readers;
/// Behaviour of real runtimes that is hard on a tracer.
mod reality;
/// Too much at once, too little room, no reader left.
mod recorder;
/// Reports as one HTML file.
mod report_page;
/// Requests of servers.
mod requests;
/// Predictions against programs that run with the change, in virtual time.
mod reruns;
mod ring;
/// Programs that are hard on a tracer behave as without one: their threads, signals and calls.
mod robustness;
/// As `robustness`: processes that are forked, replaced and ended in all ways.
mod robustness_processes;
/// Recordings with several files.
mod rolling;
/// Short tasks in a row that have one time together.
mod runs;
/// JSON documents and their schemas.
mod schemas;
/// The command works as a single file.
mod self_contained;
/// Programs that a server of recordings records.
mod serve;
/// Signals that the command gets in the place of the program.
mod signalled;
/// Services with all that happens to them, for a short or a long time.
mod soak;
/// The stacks that calls are made with, and the lines in them.
mod stacks;
/// Results of reading a recording part by part equal those of its whole trace.
mod streamed;
/// Views of TensorBoard.
mod tensorboard;
/// The timeline in a terminal that is looked at, with keys and mouse.
mod terminal;
/// PyTorch, where an interpreter that has it is named.
mod torch;
/// The tutorials, copied and pasted.
mod tutorials;
/// Streams that never had a task.
mod untimed_waits;
/// Functions that no table has.
mod untyped;
mod unused_streams;
/// The timeline in a terminal.
mod view;
/// The questions of docs/ANALYSIS.md are followed.
mod walkthrough;
/// A recorder that says by itself that nothing moves.
mod watchdog;
/// Calls are intercepted by every way to a function, and nothing else changes.
mod ways;
/// How long programs would take with a change.
mod what_if;
/// Why a program hangs, asked while it does and after it was killed.
mod why;
/// Recordings of a part of a program.
mod windows;
/// Documents, help and messages are written as docs/STYLE.md asks.
mod words;
/// Wrong use gets one clear line and its status.
mod wrong_use;
