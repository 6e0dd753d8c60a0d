//! Ways to start a program.

/// Programs in a debugger.
mod debugger;
/// What a program inherits is what it would without the command.
mod given;
/// Programs for another C library.
mod musl;
/// No threads, little memory.
mod sandbox;
/// Programs that are built with sanitizers.
mod sanitizers;
/// What a program under the live view leaves behind.
mod screen;
