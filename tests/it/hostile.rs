//! Programs and surroundings that were made to break a tracer. Each states what it is after in its own
//! first lines (`tests/hostile`); the module of its topic says what must hold.

/// Every call made is recorded or counted as not recorded: [`counts::balanced`].
mod counts;

/// Calls in handlers, left by jumps, by exceptions, by cancellation; calls that never return.
mod calls;
/// Many processes, many recorders, targets that are taken, memory that others left.
mod collector;
/// Programs that end things, and themselves, at any moment.
mod ends;
/// Files that were made to harm their reader.
mod files;
/// How a program is started: sanitizers, other C libraries, filters, limits, privileges.
mod launch;
/// What the loader does, and what programs ask of it.
mod loader;
/// What the runtime answers only because somebody has looked.
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
