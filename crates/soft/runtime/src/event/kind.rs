//! Kinds of events.

pub(crate) mod flag {
    pub(crate) const SYNC: u32 = 0x01;
    pub(crate) const PROGRESS: u32 = 0x02;
    /// Part of the default set; it has no public name.
    pub(crate) const DEVICE_SYNC: u32 = 0x04;
    pub(crate) const TIME_LINE: u32 = 0x08;
    pub(crate) const DEVICE_USE_ONLY: u32 = 0x10;
    pub(crate) const EXTERNAL: u32 = 0x20;
    pub(crate) const IPC: u32 = 0x40;
    pub(crate) const DEFAULT: u32 = DEVICE_SYNC | TIME_LINE | PROGRESS;
    pub(crate) const MIX: u32 = SYNC | PROGRESS | DEVICE_SYNC | TIME_LINE;
}

/// The rows of the permission table in docs/SOFTACL.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventClass {
    /// `aclrtCreateEvent`.
    Default,
    /// `aclrtCreateEventWithFlag` with SYNC: holds a hardware id until it is destroyed.
    HeldSync,
    /// `aclrtCreateEventWithFlag` without SYNC.
    HeldPlain,
    /// `aclrtCreateEventExWithFlag` with a sync bit.
    ExSync,
    /// `aclrtCreateEventExWithFlag` without a sync bit.
    ExPlain,
    Ipc,
    DeviceUseOnly,
    External,
}

impl EventClass {
    /// Events of the older kind are "not ready" until they are recorded for the first time.
    pub(super) const fn is_old(self) -> bool {
        matches!(
            self,
            Self::Default | Self::HeldSync | Self::HeldPlain | Self::External
        )
    }

    pub(super) const fn takes_id_at_record(self) -> bool {
        matches!(self, Self::Default | Self::ExSync)
    }
}
