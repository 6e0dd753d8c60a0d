//! The list of recordings.

use std::time::{Duration, SystemTime};

use ascend_trace_recording::units::{bytes, duration};

use crate::folder::{Folder, MOST};

/// The recordings of a folder, a line each.
pub(crate) fn list(folder: &Folder) -> String {
    let (found, is_more) = folder.recordings();
    if found.is_empty() {
        return "there are no recordings (*.atrace) in the folder: `ascend-trace ./app` makes one"
            .to_owned();
    }
    let now = SystemTime::now();
    let lines = found.iter().map(|entry| {
        let age = now.duration_since(entry.changed).unwrap_or(Duration::ZERO);
        let age = i64::try_from(age.as_nanos()).unwrap_or(i64::MAX);
        let (name, size, age) = (&entry.name, bytes(entry.bytes), duration(age));
        let files = match entry.files {
            1 => String::new(),
            files => format!("  {files} files"),
        };
        format!("{name}  {size}{files}  written {age} ago\n")
    });
    let mut text: String = lines.collect();
    if is_more {
        text.push_str(&format!("(only the newest {MOST} are listed)\n"));
    }
    text
}
