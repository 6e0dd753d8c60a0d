//! The list of all checks.

use super::Check;

/// A check, with its page of the manual.
pub struct Entry {
    pub check: Box<dyn Check>,
    /// Paragraphs of plain text in Markdown.
    pub manual: String,
}

macro_rules! list {
    ($($file:literal $module:ident $check:ident,)*) => {
        $(
            #[path = $file]
            mod $module;
        )*

        /// All checks, by name.
        pub fn all() -> Vec<Entry> {
            vec![$(
                Entry {
                    check: Box::new($module::$check::default()),
                    manual: manual(include_str!($file)),
                },
            )*]
        }
    };
}

list! {
    "device_sync.rs" device_sync DeviceSync,
    "failed_call.rs" failed_call FailedCall,
    "failed_capture.rs" failed_capture FailedCapture,
    "pageable_copy.rs" pageable_copy PageableCopy,
    "short_lived.rs" short_lived ShortLived,
    "unrecorded_event.rs" unrecorded_event UnrecordedEvent,
    "unserved_callback.rs" unserved_callback UnservedCallback,
}

/// The comment at the top of a file.
fn manual(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<&str> = lines
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    lines.join("\n")
}
