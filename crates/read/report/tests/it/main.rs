//! Timelines, curves and pages of made-up recordings.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod large;
mod made;
