//! Records in a profiler's buffers: fields follow each other without gaps, and each record begins at a
//! multiple of 8 bytes.

use super::ActivityPlace;
use crate::clock::mono;

/// `msptiActivityKind`, the supported part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ActivityKind {
    Marker = 1,
    Kernel = 2,
    Api = 3,
    Hccl = 4,
    Memory = 5,
    Memset = 6,
    Memcpy = 7,
    ExternalCorrelation = 8,
    Communication = 9,
    AclApi = 10,
    NodeApi = 11,
    RuntimeApi = 12,
}

impl ActivityKind {
    const ALL: [Self; 12] = [
        Self::Marker,
        Self::Kernel,
        Self::Api,
        Self::Hccl,
        Self::Memory,
        Self::Memset,
        Self::Memcpy,
        Self::ExternalCorrelation,
        Self::Communication,
        Self::AclApi,
        Self::NodeApi,
        Self::RuntimeApi,
    ];

    pub(crate) fn from_code(code: i32) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|kind| *kind as i32 == code)
    }

    /// How many bytes a record of the kind takes; 0 for one that is never written.
    pub(crate) const fn size(self) -> usize {
        match self {
            Self::Api | Self::AclApi | Self::NodeApi | Self::RuntimeApi => 48,
            Self::Kernel | Self::Hccl | Self::Memset | Self::Memcpy | Self::Marker => 56,
            Self::Memory => 64,
            Self::Communication => 72,
            Self::ExternalCorrelation => 24,
        }
    }
}

/// One record before it is put into a buffer.
#[derive(Debug, Clone)]
pub(crate) struct ActivityItem {
    pub(crate) kind: ActivityKind,
    pub(crate) times: [u64; 2],
    /// Device and stream, or process and thread.
    pub(crate) place: [u32; 2],
    correlation: u64,
    name: usize,
    bytes: u64,
    /// When it was put down.
    pub(super) made: u64,
}

impl ActivityItem {
    pub(super) fn device(
        kind: ActivityKind,
        place: &ActivityPlace,
        name: usize,
        times: [u64; 2],
    ) -> Self {
        Self {
            kind,
            times,
            place: [place.device.id, place.stream_id as u32],
            correlation: place.correlation,
            name,
            bytes: 0,
            made: mono(),
        }
    }

    /// A call that copies or fills, when it has submitted that. The time of the run is not reported.
    pub(super) fn moving(kind: ActivityKind, bytes: u64, place: &ActivityPlace) -> Self {
        Self {
            bytes,
            ..Self::device(kind, place, 0, [0, 0])
        }
    }

    /// The same with the times of its call, on the wall clock.
    pub(super) fn called(self, begin: u64, end: u64) -> Self {
        let to_wall = super::wall() - mono() as i64;
        Self {
            times: [begin, end].map(|ns| (ns as i64 + to_wall) as u64),
            made: mono(),
            ..self
        }
    }

    /// A call; its times are the host's own, on the wall clock.
    pub(super) fn api(name: usize, correlation: u64) -> Self {
        // SAFETY: always succeeds, and takes nothing.
        let thread = unsafe { libc::syscall(libc::SYS_gettid) } as u32;
        Self {
            kind: ActivityKind::Api,
            times: [0, 0],
            place: [std::process::id(), thread],
            correlation,
            name,
            bytes: 0,
            made: mono(),
        }
    }

    /// The record's bytes.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Bytes(Vec::with_capacity(self.kind.size()));
        out.four(self.kind as u32);
        match self.kind {
            ActivityKind::Memcpy => {
                // The direction is not reported: 5 is "as the addresses say".
                out.four(5);
                out.eight(self.bytes);
                self.times_then_place(&mut out);
                out.eight(self.correlation);
                out.eight(1);
            }
            ActivityKind::Memset => {
                out.four(0);
                out.eight(self.bytes);
                self.times_then_place(&mut out);
                out.eight(self.correlation);
                out.eight(1);
            }
            ActivityKind::Communication => {
                // Of what type the elements are is not known here.
                out.four(0xffff);
                out.eight(0);
                self.place.iter().for_each(|it| out.four(*it));
                self.times.iter().for_each(|it| out.eight(*it));
                out.eight(0);
                out.eight(self.name as u64);
                out.eight(0);
                out.eight(self.correlation);
            }
            _ => {
                self.times_then_place(&mut out);
                out.eight(self.correlation);
                if self.kind == ActivityKind::Kernel {
                    // The type of the cores that ran it.
                    out.eight(c"KERNEL_MIX_AIC".as_ptr() as u64);
                }
                out.eight(self.name as u64);
            }
        }
        out.0.resize(self.kind.size(), 0);
        out.0
    }

    fn times_then_place(&self, out: &mut Bytes) {
        self.times.iter().for_each(|it| out.eight(*it));
        self.place.iter().for_each(|it| out.four(*it));
    }
}

struct Bytes(Vec<u8>);

impl Bytes {
    fn four(&mut self, value: u32) {
        self.0.extend(value.to_ne_bytes());
    }

    fn eight(&mut self, value: u64) {
        self.0.extend(value.to_ne_bytes());
    }
}
