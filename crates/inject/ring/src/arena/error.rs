//! Why a session could not be made.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a session could not be made. Written by hand: this crate is part of the library in traced
/// programs, and depends on libc only.
#[derive(Debug)]
pub enum ArenaError {
    Create {
        path: PathBuf,
        source: io::Error,
    },
    Map {
        path: PathBuf,
        source: io::Error,
    },
    Room {
        path: PathBuf,
        bytes: usize,
        source: io::Error,
    },
}

impl fmt::Display for ArenaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create { path, source } => write!(f, "cannot make {}: {source}", path.display()),
            Self::Map { path, source } => write!(f, "cannot map {}: {source}", path.display()),
            Self::Room {
                path,
                bytes,
                source,
            } => {
                write!(
                    f,
                    "no room for {bytes} bytes in {}: {source}",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for ArenaError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Create { source, .. } | Self::Map { source, .. } | Self::Room { source, .. } => {
                Some(source)
            }
        }
    }
}
