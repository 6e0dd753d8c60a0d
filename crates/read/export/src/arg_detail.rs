//! How much detail slices have in addition to their names and times.

/// Which arguments slices have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArgDetail {
    /// All that is known.
    #[default]
    Full,
    /// Of a call: that it failed or did not return. Of a task: its device, stream and bytes. Of both: which belong
    /// together.
    Minimal,
    None,
}
