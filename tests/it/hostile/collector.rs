//! Many processes and recorders at once.
