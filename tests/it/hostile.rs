//! Programs and environments that were made to break a tracer. The first lines of each
//! (`tests/hostile`) state its purpose; the module of its topic states the expected result.

/// Every call made is recorded or counted as not recorded: [`counts::balanced`].
mod counts;

/// Calls in handlers, left by jumps, by exceptions, by cancellation; calls that never return.
mod calls;
/// Many processes, many recorders, targets that are taken, memory that others left.
mod collector;
/// Programs that end things, and themselves, at any time.
mod ends;
/// Files that were made to harm their reader.
mod files;
/// How a program is started: sanitizers, other C libraries, filters, limits, privileges.
mod launch;
/// Actions of the loader, and the programs' requests to it.
mod loader;
/// Results of the runtime that depend on an earlier look.
mod looks;
/// What tracing takes of the program's memory.
mod memory;
/// Calls that do not return.
mod open;
/// Which function is called where several libraries have one of a name.
mod scopes;
/// Memory that the program shares with the recorder, cut or overwritten.
mod shared;
/// How commands end that read traces which are not complete.
mod statuses;
