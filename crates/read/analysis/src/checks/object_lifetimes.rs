//! Streams and events: their creation and destruction in a program.

use ascend_trace_format::api::Role;

/// Kinds of objects with a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ObjectKind {
    Stream,
    Event,
}

impl ObjectKind {
    /// The object that a call makes or destroys, and whether it makes it.
    pub(super) fn of(role: Role) -> Option<(Self, bool)> {
        Some(match role {
            Role::CreateStream => (Self::Stream, true),
            Role::DestroyStream => (Self::Stream, false),
            Role::CreateEvent => (Self::Event, true),
            Role::DestroyEvent => (Self::Event, false),
            _ => return None,
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Stream => "streams",
            Self::Event => "events",
        }
    }
}
