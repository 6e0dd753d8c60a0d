//! The versions of everything that crosses a process or a file boundary, in one place.

/// First bytes of a trace file.
pub const FILE_MAGIC: [u8; 8] = *b"ASCTRACE";

/// Version of the trace file. Raise it with every change that an older reader would misread.
pub const FILE_VERSION: u32 = 1;

/// First word of a session's shared memory.
pub const SESSION_MAGIC: u64 = u64::from_le_bytes(*b"ASCTSHM1");

/// Version of the shared memory layout and of the records in it. The interposer turns itself off
/// when it meets another version, so a newer command never misreads an older library.
pub const SESSION_VERSION: u32 = 12;

/// Version of every `--json` document.
pub const JSON_SCHEMA_VERSION: u32 = 2;
