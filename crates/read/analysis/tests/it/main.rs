//! Text in, text out: timelines of `testkit`, compared with the analyses' results.

/// The clocks of hosts.
mod align;
/// Slow programs do not hang.
mod alive;
/// Stalls by who is to blame.
mod blamed;
/// Calls and ranges by nesting.
mod calls;
/// Recordings that are read in windows.
mod checks;
/// Columns of tables, and the document that has them.
mod columns;
/// Waits, transfers and bandwidth of collectives.
mod communication;
/// The critical path to the end.
mod costs;
mod critical;
mod cuttings;
/// Edges between calls and tasks.
mod dependencies;
/// Two recordings.
mod diff;
/// Uses of streams and devices after their end.
mod ended;
mod estimates;
/// Captures, replays, and why captures fail.
mod graphs;
mod hang;
/// Causes of idle time, and that they add up.
mod idle;
mod killed_programs;
mod late_times;
mod memory;
mod memory_checks;
/// Tracer overhead.
mod overhead;
/// Where tasks without a time probably ran.
mod placement;
/// Loops of queries that wait.
mod polls;
mod programs;
/// Uses of memory, and what puts them in order.
mod races;
/// The same in random programs, with and without a mistake.
mod racy;
/// Who is to blame in random programs.
mod random;
/// The end of each wait, and its cause.
mod released;
/// Events that need resets.
mod resets;
/// Tasks that have one time together.
mod runs;
/// Waits, gaps and blocking calls.
mod stalls;
/// Tables.
mod stats;
/// Places of steps, and the excess of the slowest.
mod steps;
/// Steps, ranges, modules, and threads that plan for others.
mod threads;
mod training;
/// Timelines of two threads that work in turn.
mod two_threads;
/// Predictions.
mod whatif;
mod whatif_arrivals;
mod whatif_unshown;
mod whatif_waits;
mod whatif_work;
/// How results are written down.
mod words;
