//! Random numbers as a task. The numbers follow from the seed and from the counter in device memory, which
//! the task moves on; they are not the ones of a card.

use half::{bf16, f16};

use crate::code::{INVALID_PARAM, Outcome, RT_NOT_SUPPORTED, check, fault};
use crate::engine::task::Operator;
use crate::memory::transfer::transfer_ns;
use crate::memory::{MemoryKind, check_range, place_of};
use crate::process;
use crate::stream::launch;

/// `aclrtRandomParaInfo`: a number, or the address of one in device memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Param {
    is_address: u8,
    value: [u8; 8],
    size: u8,
    reserved: [u8; 6],
}

/// `aclrtRandomNumTaskInfo`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct TaskInfo {
    data_type: i32,
    function: u32,
    params: [Param; 2],
    param_address: usize,
    result: usize,
    counter: usize,
    seed: Param,
    count: Param,
    reserved: [u8; 8],
}

const _: () = assert!(size_of::<TaskInfo>() == 104);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    F32,
    F16,
    Bf16,
    I32,
    I64,
    U32,
    U64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Distribution {
    /// One bit per number, set with the probability of keeping it.
    Dropout,
    Uniform,
    Normal,
    /// Nothing farther than two deviations from the mean.
    TruncatedNormal,
}

impl Element {
    const fn of(data_type: i32) -> Option<Self> {
        Some(match data_type {
            0 => Self::F32,
            1 => Self::F16,
            3 => Self::I32,
            8 => Self::U32,
            9 => Self::I64,
            10 => Self::U64,
            27 => Self::Bf16,
            _ => return None,
        })
    }

    const fn size(self) -> usize {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::I64 | Self::U64 => 8,
        }
    }

    const fn is_floating(self) -> bool {
        matches!(self, Self::F32 | Self::F16 | Self::Bf16)
    }

    /// The number in the first bytes.
    fn decode(self, bytes: [u8; 8]) -> f64 {
        let [a, b, c, d, ..] = bytes;
        match self {
            Self::F32 => f64::from(f32::from_ne_bytes([a, b, c, d])),
            Self::F16 => f16::from_ne_bytes([a, b]).to_f64(),
            Self::Bf16 => bf16::from_ne_bytes([a, b]).to_f64(),
            Self::I32 => f64::from(i32::from_ne_bytes([a, b, c, d])),
            Self::U32 => f64::from(u32::from_ne_bytes([a, b, c, d])),
            Self::I64 => i64::from_ne_bytes(bytes) as f64,
            Self::U64 => u64::from_ne_bytes(bytes) as f64,
        }
    }

    /// # Safety
    /// The element at the address must be writable.
    unsafe fn write(self, address: usize, number: f64) {
        // SAFETY: the caller promises it; nothing is assumed of the alignment.
        unsafe {
            match self {
                Self::F32 => (address as *mut f32).write_unaligned(number as f32),
                Self::F16 => (address as *mut f16).write_unaligned(f16::from_f64(number)),
                Self::Bf16 => (address as *mut bf16).write_unaligned(bf16::from_f64(number)),
                Self::I32 => (address as *mut i32).write_unaligned(number.floor() as i32),
                Self::U32 => (address as *mut u32).write_unaligned(number.floor() as u32),
                Self::I64 => (address as *mut i64).write_unaligned(number.floor() as i64),
                Self::U64 => (address as *mut u64).write_unaligned(number.floor() as u64),
            }
        }
    }
}

impl Param {
    /// The bytes of the number, from device memory if it is stored there.
    fn bytes(&self) -> [u8; 8] {
        if self.is_address == 0 {
            return self.value;
        }
        let mut found = [0; 8];
        let address = usize::from_ne_bytes(self.value);
        let size = usize::from(self.size).min(8);
        if check_range(address, size, place_of(address)).is_ok() && address != 0 {
            // SAFETY: the range is inside memory of this library or belongs to the program.
            unsafe {
                std::ptr::copy_nonoverlapping(address as *const u8, found.as_mut_ptr(), size);
            }
        }
        found
    }

    fn whole(&self) -> u64 {
        let mut bytes = self.bytes();
        let size = usize::from(self.size).min(8);
        bytes[size..].fill(0);
        u64::from_le_bytes(bytes)
    }
}

/// Numbers that look random, one after the other.
struct RandomBits(u64);

impl RandomBits {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        crate::scatter::scatter(self.0)
    }

    /// From 0 up to, and without, 1.
    fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        // Box and Muller; the logarithm wants a number above 0.
        let radius = (-2.0 * (1.0 - self.fraction()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.fraction()).cos()
    }
}

pub(crate) fn submit(info: &TaskInfo, stream: usize) -> Outcome {
    const UNKNOWN: Outcome = fault(
        RT_NOT_SUPPORTED,
        "random numbers of this kind are not there",
    );
    let Some(element) = Element::of(info.data_type) else {
        return UNKNOWN;
    };
    let distribution = match info.function {
        0 => Distribution::Dropout,
        1 => Distribution::Uniform,
        2 => Distribution::Normal,
        3 => Distribution::TruncatedNormal,
        _ => return UNKNOWN,
    };
    if distribution != Distribution::Uniform && !element.is_floating() {
        return UNKNOWN;
    }
    if info.result == 0 || info.counter == 0 {
        return fault(INVALID_PARAM, "the result or the counter is NULL");
    }
    let count = info.count.whole() as usize;
    let bytes = match distribution {
        Distribution::Dropout => count.div_ceil(8),
        _ => count.saturating_mul(element.size()),
    };
    check(bytes > 0, "there is nothing to make")?;
    for (address, len) in [(info.result, bytes), (info.counter, 16)] {
        let place = place_of(address);
        check(
            place != MemoryKind::Pageable,
            "the memory was not allocated through acl",
        )?;
        check_range(address, len, place)?;
    }
    let options = process::options();
    let work = RandomWork {
        info: *info,
        element,
        distribution,
        count,
    };
    let operator = Operator {
        name: "RandomNum",
        duration_ns: options.launch_ns + transfer_ns(bytes as u64, options.d2d_mbps),
        effect: Box::new(move || work.run()),
    };
    launch::operator(stream, operator)
}

struct RandomWork {
    info: TaskInfo,
    element: Element,
    distribution: Distribution,
    count: usize,
}

impl RandomWork {
    fn run(&self) {
        let counter = self.info.counter as *mut u64;
        // SAFETY: `submit` checked that 16 bytes are inside memory of this library, which stays mapped.
        let before = unsafe { counter.read_unaligned() };
        let mut source = RandomBits(self.info.seed.whole() ^ before.rotate_left(32));
        let [first, second] = [0, 1].map(|at| self.element.decode(self.info.params[at].bytes()));
        if self.distribution == Distribution::Dropout {
            self.drop_out(first, &mut source);
        } else {
            for index in 0..self.count {
                let number = self.draw(first, second, &mut source);
                let address = self.info.result + index * self.element.size();
                // SAFETY: `submit` checked that all elements are inside memory of this library.
                unsafe { self.element.write(address, number) };
            }
        }
        // SAFETY: as above.
        unsafe { counter.write_unaligned(before.wrapping_add(self.count as u64)) };
    }

    fn draw(&self, first: f64, second: f64, source: &mut RandomBits) -> f64 {
        match self.distribution {
            Distribution::Normal => first + second * source.normal(),
            Distribution::TruncatedNormal => loop {
                let number = source.normal();
                if number.abs() <= 2.0 {
                    return first + second * number;
                }
            },
            _ => first + (second - first) * source.fraction(),
        }
    }

    fn drop_out(&self, ratio: f64, source: &mut RandomBits) {
        for byte in 0..self.count.div_ceil(8) {
            let bits = (self.count - byte * 8).min(8);
            let mask = (0..bits).fold(0_u8, |mask, bit| {
                mask | u8::from(source.fraction() >= ratio) << bit
            });
            // SAFETY: `submit` checked that all bytes are inside memory of this library.
            unsafe { ((self.info.result + byte) as *mut u8).write(mask) };
        }
    }
}
