//! Files that the build script has put into this binary.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
