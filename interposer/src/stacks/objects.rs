//! The objects of frames: each is recorded once, and has a number.

use core::ops::ControlFlow;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU64};

use ascend_trace_format::record::{MAX_LONG_TEXT, Text, kinds};

use super::cursor::Bytes;
use super::unwind_rule::{MOST_OBJECTS, Rule, Step};
use super::unwind_tables;
use crate::first_records::tell;
use crate::loader::object::Object;
use crate::loader::walk;
use crate::syscall_policy;
use crate::thread::ThreadState;

/// Bytes of a build id that are recorded.
const ID_BYTES: usize = 32;

/// An object that has a number.
struct NumberedObject {
    /// Tells it apart from others; 0 for none yet.
    key: AtomicU64,
    is_reported: AtomicBool,
}

/// By number, from 1.
static NUMBERED: [NumberedObject; MOST_OBJECTS as usize] = [const {
    NumberedObject {
        key: AtomicU64::new(0),
        is_reported: AtomicBool::new(false),
    }
}; MOST_OBJECTS as usize];

/// Another session has none of the objects.
pub(super) fn begin_again() {
    for place in &NUMBERED {
        place.is_reported.store(false, Relaxed);
    }
}

/// Facts about an object, copied because it may be unloaded.
struct ObjectFacts {
    base: usize,
    id: [u8; ID_BYTES],
    id_length: usize,
    path: [u8; MAX_LONG_TEXT],
    path_length: usize,
    step: Option<Step>,
}

/// The rule of an address. `None` when its object could not be recorded: another time it may be.
///
/// To be called while the tracer is at work in the thread.
#[cold]
pub(super) fn rule(state: &ThreadState, address: usize, seed: u64) -> Option<Rule> {
    let Some(mut found) = find(address) else {
        // Code that was made at run time.
        return Some(Rule {
            step: Step::Chain,
            object: 0,
        });
    };
    found.complete_path();
    let step = found.step.unwrap_or(Step::Chain);
    let object = number(state, &found, seed)?;
    Some(Rule { step, object })
}

fn find(address: usize) -> Option<ObjectFacts> {
    let mut found = None;
    walk::each(|place| {
        let object = &place.object;
        if !object.holds(address) {
            return ControlFlow::Continue(());
        }
        found = Some(ObjectFacts::of(object, address));
        ControlFlow::Break(())
    });
    found
}

impl ObjectFacts {
    fn of(object: &Object<'_>, address: usize) -> Self {
        let mut found = Self {
            base: object.base,
            id: [0; ID_BYTES],
            id_length: 0,
            path: [0; MAX_LONG_TEXT],
            path_length: 0,
            step: step(object, address),
        };
        found.id_length = copy(object.build_id().unwrap_or(&[]), &mut found.id);
        found.path_length = copy(object.name.to_bytes(), &mut found.path);
        found
    }

    fn path(&self) -> &[u8] {
        self.path.get(..self.path_length).unwrap_or(&[])
    }

    fn id(&self) -> &[u8] {
        self.id.get(..self.id_length).unwrap_or(&[])
    }

    /// The loader has no name for the program, and names others as the program did.
    fn complete_path(&mut self) {
        if !syscall_policy::is_allowed() {
            return;
        }
        if self.path_length == 0 {
            self.path_length = syscall_policy::link(c"/proc/self/exe", &mut self.path);
        } else if self.path().contains(&b'/') && !self.path().starts_with(b"/") {
            let mut whole = [0; MAX_LONG_TEXT];
            let folder = syscall_policy::link(c"/proc/self/cwd", &mut whole);
            let mut length = folder;
            for byte in [&b"/"[..], self.path()].into_iter().flatten() {
                if let Some(place) = whole.get_mut(length) {
                    *place = *byte;
                    length += 1;
                }
            }
            if folder > 0 {
                (self.path, self.path_length) = (whole, length);
            }
        }
    }

    /// Distinguishes the object from others of the process. Never 0.
    fn key(&self, seed: u64) -> u64 {
        let mut key = seed ^ (self.base as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for byte in self.id().iter().chain(self.path()) {
            key = (key ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        key.max(1)
    }
}

fn copy(from: &[u8], into: &mut [u8]) -> usize {
    for (place, byte) in into.iter_mut().zip(from) {
        *place = *byte;
    }
    from.len().min(into.len())
}

fn step(object: &Object<'_>, address: usize) -> Option<Step> {
    let part = |address: usize| {
        Some(Bytes {
            at: address,
            bytes: object.readable_from(address)?,
        })
    };
    let header = part(object.unwind_header()?)?;
    unwind_tables::step(header, address, &part)
}

/// The tables' step for an address.
pub(super) fn step_at(address: usize) -> Option<Step> {
    find(address).map(|found| found.step.unwrap_or(Step::Chain))
}

/// The object's number. A new one is recorded; `None` without room for that. 0 when the objects are too
/// many.
fn number(state: &ThreadState, found: &ObjectFacts, seed: u64) -> Option<u16> {
    let key = found.key(seed);
    for (number, place) in (1..).zip(&NUMBERED) {
        let is_it = match place.key.compare_exchange(0, key, Relaxed, Relaxed) {
            Ok(_) => true,
            Err(known) => known == key,
        };
        if !is_it {
            continue;
        }
        // Two threads may record the same one.
        if !place.is_reported.load(Relaxed) && announce(state, found, number) {
            place.is_reported.store(true, Relaxed);
        }
        return place.is_reported.load(Relaxed).then_some(number);
    }
    Some(0)
}

fn announce(state: &ThreadState, found: &ObjectFacts, number: u16) -> bool {
    let object = kinds::Object {
        number,
        base: found.base as u64,
        build_id: Text::new(found.id()),
        path: Text::new(found.path()),
    };
    let mut is_reported = false;
    state.record(|producer| is_reported = tell(producer, &object));
    is_reported
}
