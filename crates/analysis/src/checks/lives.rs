//! Streams and events: what a program makes and destroys.

use ascend_trace_format::api::Role;

/// What comes and goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Stream,
    Event,
}

impl Kind {
    /// What a call makes or destroys, and whether it makes it.
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
