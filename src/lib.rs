//! The collector and the command line.
