//! Which way a copy goes.

use ascend_trace_format::api::{ArgKind, TaskKind, Untimed};

use crate::category::Category;
use crate::trace::{Call, Trace};

/// From where to where a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    HostToDevice,
    DeviceToHost,
    /// Within a device.
    DeviceToDevice,
    /// From one device to another.
    Peer,
    HostToHost,
}

impl Direction {
    /// The usual abbreviation.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HostToDevice => "H2D",
            Self::DeviceToHost => "D2H",
            Self::DeviceToDevice => "D2D",
            Self::Peer => "P2P",
            Self::HostToHost => "H2H",
        }
    }

    /// Direction of a constant of `aclrtMemcpyKind`. `None` where the runtime examines the addresses
    /// itself.
    fn of(constant: &str) -> Option<Self> {
        Some(match constant.strip_prefix("ACL_MEMCPY_")? {
            "HOST_TO_DEVICE" | "HOST_TO_BUF_TO_DEVICE" => Self::HostToDevice,
            "DEVICE_TO_HOST" => Self::DeviceToHost,
            "DEVICE_TO_DEVICE" | "INNER_DEVICE_TO_DEVICE" => Self::DeviceToDevice,
            "INTER_DEVICE_TO_DEVICE" => Self::Peer,
            "HOST_TO_HOST" => Self::HostToHost,
            _ => return None,
        })
    }
}

impl Trace {
    /// Which way a call copies, as far as its arguments say.
    pub fn direction(&self, call: &Call) -> Option<Direction> {
        let function = self.function(call.function);
        let copies = function.task == Some(TaskKind::Memcpy)
            || Category::of_call(function, false) == Category::Copy;
        if !copies {
            return None;
        }
        let arguments = function.args.iter().zip(self.args(call));
        let mut kinds = arguments.filter(|(argument, _)| argument.kind == ArgKind::Enum);
        kinds.find_map(|(argument, word)| {
            let constant = self.constant(&argument.enumeration, word.cast_signed())?;
            Direction::of(constant)
        })
    }

    /// Whether the runtime copied on the host, because the host's memory was pageable.
    pub fn is_pageable(&self, call: &Call) -> bool {
        let task = call.task.map(|task| self.task(task));
        task.is_some_and(|task| task.untimed == Untimed::HostCopy)
    }
}
