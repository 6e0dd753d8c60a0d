//! Ways to start a program.
