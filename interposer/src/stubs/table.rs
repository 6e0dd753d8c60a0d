//! The function of each stub. Places are taken one after another and never given back.

use core::cell::UnsafeCell;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, AtomicUsize};

use ascend_trace_format::record::Shape;

use super::{STUBS, parameters};

/// The function of one stub.
pub(super) struct Stub {
    /// The address that it calls, stored last; 0 while the place is free.
    target: AtomicUsize,
    /// The function as others know it: the same, unless something was put in between.
    address: AtomicUsize,
    /// Where its name begins in [`NAMES`], and how long it is.
    name: AtomicU64,
    shape: AtomicU8,
    /// Of an operator's two functions: their shared part.
    pub(super) operator: AtomicU64,
    /// Of a planning function: which of its words leads to the executor, 0 until it is certain.
    pub(super) position: AtomicU8,
    /// Of a planning function: its floating-point parameters, as far as the operator is known.
    floats: AtomicU8,
    /// Of a planning function: the word that leads to the executor if the operator is as the table says, else 0.
    expected: AtomicU8,
    /// The executor that it returned last, if known, and the word that led there.
    pub(super) guess: AtomicU64,
    pub(super) guesses: AtomicU32,
    /// Of a submitting function: the number of the planning one, plus 1.
    pub(super) partner: AtomicU32,
}

/// Facts about a function when it gets its stub.
#[derive(Clone, Copy)]
pub(super) enum StubKind {
    Of(Shape),
    /// It is one of the layer below AscendCL, and of unknown shape.
    Below,
}

/// Stands in place of a shape's code for [`StubKind::Below`]: a function that is not plain and has no shape.
const BELOW: u8 = u8::MAX;

static TABLE: [Stub; STUBS] = [const {
    Stub {
        target: AtomicUsize::new(0),
        address: AtomicUsize::new(0),
        name: AtomicU64::new(0),
        shape: AtomicU8::new(0),
        operator: AtomicU64::new(0),
        position: AtomicU8::new(0),
        floats: AtomicU8::new(0),
        expected: AtomicU8::new(0),
        guess: AtomicU64::new(0),
        guesses: AtomicU32::new(0),
        partner: AtomicU32::new(0),
    }
}; STUBS];

static USED: AtomicUsize = AtomicUsize::new(0);

/// Finds stubs by address: numbers plus 1, at places that the address determines.
static BY_ADDRESS: [AtomicU32; 2 * STUBS] = [const { AtomicU32::new(0) }; 2 * STUBS];

/// The functions' names, one after another.
struct Names(UnsafeCell<[u8; Self::BYTES]>);

impl Names {
    const BYTES: usize = STUBS * 64;
}

// SAFETY: each part is written once, by the thread that has taken it, before it is published.
unsafe impl Sync for Names {}

static NAMES: Names = Names(UnsafeCell::new([0; Names::BYTES]));
static NAMED: AtomicUsize = AtomicUsize::new(0);

impl Stub {
    #[inline]
    pub(super) fn target(&self) -> usize {
        self.target.load(Acquire)
    }

    pub(super) fn set_target(&self, target: usize) {
        self.target.store(target, Release);
    }

    /// Whether nothing is known of the function but its name: one comparison on the way of its calls.
    #[inline]
    pub(super) fn is_unknown(&self) -> bool {
        self.shape.load(Relaxed) == Shape::Unknown as u8
    }

    pub(super) fn shape(&self) -> Shape {
        match self.shape.load(Relaxed) {
            1 => Shape::Planning,
            2 => Shape::Submitting,
            _ => Shape::Unknown,
        }
    }

    /// Floating-point parameters of a planning function, as far as they are known.
    pub(super) fn floats(&self) -> usize {
        usize::from(self.floats.load(Relaxed))
    }

    /// The word that leads to the executor if the operator is as the table says.
    pub(super) fn expected(&self) -> Option<usize> {
        let position = usize::from(self.expected.load(Relaxed));
        (position != 0).then_some(position)
    }

    /// The function as others know it.
    pub(super) fn function(&self) -> usize {
        self.address.load(Relaxed)
    }

    fn name(&self) -> &'static [u8] {
        let word = self.name.load(Relaxed);
        let (begin, length) = ((word >> 16) as usize, (word & 0xffff) as usize);
        // SAFETY: the name was written before the stub was published, within the names, and is never
        // written again.
        unsafe { core::slice::from_raw_parts(NAMES.0.get().cast::<u8>().add(begin), length) }
    }
}

/// The stub of a function.
#[inline]
pub(super) fn get(index: usize) -> Option<&'static Stub> {
    TABLE.get(index).filter(|stub| stub.target() != 0)
}

/// Number of used stubs.
pub(super) fn used() -> usize {
    USED.load(Acquire).min(STUBS)
}

/// Name and shape of the function behind a stub.
pub(crate) fn known(index: usize) -> Option<(&'static [u8], Shape)> {
    let stub = get(index)?;
    Some((stub.name(), stub.shape()))
}

/// The places where a stub for an address may be noted.
fn places(address: usize) -> impl Iterator<Item = &'static AtomicU32> {
    let first = (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (0..BY_ADDRESS.len()).filter_map(move |step| {
        let place = (first as usize).wrapping_add(step) % BY_ADDRESS.len();
        BY_ADDRESS.get(place)
    })
}

/// The stub for the function at an address under this name.
pub(super) fn find(name: &[u8], address: usize) -> Option<usize> {
    for place in places(address) {
        let index = place.load(Acquire).checked_sub(1)? as usize;
        let is_it = |stub: &&Stub| stub.address.load(Relaxed) == address && stub.name() == name;
        if get(index).filter(is_it).is_some() {
            return Some(index);
        }
    }
    None
}

/// Takes a stub for a function; `None` when all are used. Threads that ask for the same one at the same
/// time may get one each.
pub(super) fn add(name: &[u8], address: usize, kind: StubKind, operator: u64) -> Option<usize> {
    if USED.load(Relaxed) >= STUBS {
        return None;
    }
    let name = keep(name)?;
    let index = USED.fetch_add(1, AcqRel);
    let stub = TABLE.get(index)?;
    stub.address.store(address, Relaxed);
    stub.name.store(name, Relaxed);
    let shape = match kind {
        StubKind::Of(shape) => shape as u8,
        StubKind::Below => BELOW,
    };
    stub.shape.store(shape, Relaxed);
    stub.operator.store(operator, Relaxed);
    if let Some(counts) = parameters::of(operator) {
        stub.floats.store(counts.floats, Relaxed);
        // The size of the workspace comes before the executor.
        stub.expected.store(counts.words + 1, Relaxed);
    }
    // Last: who finds it finds the rest.
    stub.set_target(address);
    let number = u32::try_from(index + 1).ok()?;
    for place in places(address) {
        if place.compare_exchange(0, number, Release, Relaxed).is_ok() {
            break;
        }
    }
    Some(index)
}

/// Copies a name; returns its place.
fn keep(name: &[u8]) -> Option<u64> {
    let length = u16::try_from(name.len()).ok()?;
    let begin = NAMED.fetch_add(name.len(), Relaxed);
    if begin.checked_add(name.len())? > Names::BYTES {
        return None;
    }
    // SAFETY: the part was taken for this name and lies within the names.
    unsafe {
        let place = NAMES.0.get().cast::<u8>().add(begin);
        core::ptr::copy_nonoverlapping(name.as_ptr(), place, name.len());
    }
    Some((begin as u64) << 16 | u64::from(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_has_one_stub_for_each_of_its_names() {
        let add = |name: &[u8]| add(name, 0x7700_1000, StubKind::Of(Shape::Unknown), 0);
        let one = add(b"aclOne").unwrap();
        let other = add(b"aclOther").unwrap();
        assert_eq!(find(b"aclOne", 0x7700_1000), Some(one));
        assert_eq!(find(b"aclOther", 0x7700_1000), Some(other));
        assert_eq!(find(b"aclOne", 0x7700_1010), None);
        assert_eq!(find(b"aclThird", 0x7700_1000), None);
        assert_eq!(known(one), Some((&b"aclOne"[..], Shape::Unknown)));
        assert_eq!(known(STUBS), None);
    }
}
