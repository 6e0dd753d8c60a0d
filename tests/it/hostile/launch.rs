//! Ways to start a program.

/// Programs in a debugger.
mod debugger;
/// A program inherits the same state as without the command.
mod given;
/// Programs for another C library.
mod musl;
/// No threads, little memory.
mod sandbox;
/// Programs that are built with sanitizers.
mod sanitizers;
/// Processes that a program leaves under the live view.
mod screen;
