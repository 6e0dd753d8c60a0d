//! What the loader does, and what programs ask of it.
