//! Places where loaded objects keep the addresses of functions that they are linked to.
//!
//! The linker finds a wrapper by its name. A stub has no name: the loader has stored the function's
//! address, and it is replaced here. So are addresses that the loader has stored past this library, for
//! libraries that asked to be linked to their surroundings first (`RTLD_DEEPBIND`): wrappers, and
//! `dlsym`. And where a late library would have been linked to another function than the wrapper's, it
//! gets a wrapper that calls that.
//!
//! Nothing is linked to a library that came into a running process. There, all addresses of wrapped functions are replaced.

use core::ffi::CStr;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU64, AtomicUsize};

use super::object::{Object, Reference};
use super::scope::{Scope, SymbolHolders};
use super::walk;
use super::{dlsym, loader_lock, protection, symbols};
use crate::{names, real, session, stubs};

/// Relocations that store a function's address for calls, at once or at the first one.
#[cfg(target_arch = "x86_64")]
const CALLS: [u32; 2] = [6, 7];
#[cfg(target_arch = "aarch64")]
const CALLS: [u32; 2] = [1025, 1026];

/// The relocation that stores an address in the object's data, as in a table of functions.
#[cfg(target_arch = "x86_64")]
const DATA: u32 = 1;
#[cfg(target_arch = "aarch64")]
const DATA: u32 = 257;

/// Functions of the C library that this library wraps.
const WRAPPED: [&[u8]; 3] = [b"pthread_setcanceltype", b"prctl", b"syscall"];

/// The loader's counts of added and removed objects at the last look at all objects.
static SEEN: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// Where the objects begin that need no further look. Those that find no room are looked at again
/// each time.
static DONE: [AtomicUsize; 4096] = [const { AtomicUsize::new(0) }; 4096];

/// Looks at objects that are new. Must not be called by a thread that holds a lock of the loader's
/// during a walk.
pub(crate) fn sweep_if_new() {
    if !session::is_on() {
        return;
    }
    // Removals alone leave no new object to look at.
    let is_seen = SEEN[0].load(Acquire) == walk::added();
    if !is_seen && let Some(function) = dlsym::real() {
        loader_lock::sweep_slots(function);
    }
}

/// Looks at all objects again. A thread may have been binding a call during the look before: it may have stored the function's
/// address after that look.
pub(crate) fn sweep_again() {
    if let Some(function) = dlsym::real().filter(|_| session::is_on()) {
        DONE.iter().for_each(|place| place.store(0, Relaxed));
        loader_lock::sweep_slots(function);
    }
}

/// The loader is locked: objects are neither added nor removed, and the existing ones are complete,
/// except for one that another thread loads in a process without such a lock.
pub(super) fn sweep() {
    let now = walk::changes();
    if SEEN[1].swap(now.removed, AcqRel) != now.removed {
        // Others may begin where those did.
        DONE.iter().for_each(|place| place.store(0, Relaxed));
    }
    let mut is_complete = true;
    let mut objects = Batch::begin();
    while let Some(object) = objects.next() {
        if visit(&object) {
            mark_done(object.object.base);
        } else {
            is_complete = false;
        }
    }
    let seen = if is_complete { now.added } else { 0 };
    SEEN[0].store(seen, Release);
}

/// An object that stays where it is while the loader is locked.
struct PinnedObject {
    object: Object<'static>,
    /// It was not there from the start, or this library was not.
    is_late: bool,
    position: usize,
}

/// Objects one after another, outside of any walk, since looking at them takes walks.
struct Batch {
    next: usize,
}

impl Batch {
    fn begin() -> Self {
        Self { next: 0 }
    }

    fn next(&mut self) -> Option<PinnedObject> {
        let mut found = None;
        walk::each(|place| {
            let is_new =
                place.position >= self.next && !place.is_own() && !is_done(place.object.base);
            if !is_new {
                return core::ops::ControlFlow::Continue(());
            }
            found = Some(PinnedObject {
                // SAFETY: no object goes away while the loader is locked, and it does not outlive
                // that.
                object: unsafe { place.object.kept() },
                is_late: walk::is_late() || !place.is_from_start(),
                position: place.position,
            });
            core::ops::ControlFlow::Break(())
        });
        self.next = found.as_ref()?.position + 1;
        found
    }
}

fn is_done(base: usize) -> bool {
    // Most programs have a few dozen objects: the used places are together at the front.
    DONE.iter()
        .map(|place| place.load(Relaxed))
        .take_while(|known| *known != 0)
        .any(|known| known == base.wrapping_add(1))
}

fn mark_done(base: usize) {
    let number = base.wrapping_add(1);
    for place in &DONE {
        if place.compare_exchange(0, number, Relaxed, Relaxed).is_ok() {
            return;
        }
    }
}

/// Replaces addresses in one object; `false` when it is not complete yet.
fn visit(pinned: &PinnedObject) -> bool {
    let (object, position, is_late) = (&pinned.object, pinned.position, pinned.is_late);
    let mut writer = protection::Writer::new(object);
    let mut scope = None;
    let mut is_complete = true;
    object.references(|reference| {
        let kind = reference.rela.kind();
        let is_data = kind == DATA;
        if !(is_data || CALLS.contains(&kind)) || reference.rela.addend != 0 {
            return;
        }
        let name = reference.name;
        let Some(interest) = Interest::of(name.to_bytes(), is_late) else {
            return;
        };
        let slot = object.base.wrapping_add(reference.rela.offset as usize);
        if !object.writes_to(slot) {
            return;
        }
        // SAFETY: the object's own slot, which the loader stores to.
        let value = unsafe { core::ptr::read_unaligned(slot as *const usize) };
        match SlotState::of(object, &reference, value) {
            // Data belongs to the object, which may have stored any value there.
            SlotState::Incomplete | SlotState::Unbound if is_data => {}
            SlotState::Incomplete => is_complete = false,
            SlotState::Empty => {}
            state => {
                let other = match (interest, walk::is_own_address(value)) {
                    (Interest::Known(id), is_ours)
                        if is_ours || matches!(state, SlotState::Unbound) =>
                    {
                        let scope = scope.get_or_insert_with(|| Scope::of(object.base));
                        let version = object.wanted_version(reference.rela.symbol());
                        let is_clear = is_ours || walk::is_from_start(position);
                        wrapper_in(id, &scope.find(name, version), is_clear)
                    }
                    _ => interest.replacement(name, state, value),
                };
                if let Some(other) = other.filter(|other| *other != value) {
                    writer.store(slot, other);
                }
            }
        }
    });
    is_complete
}

/// The treatment of a reference.
#[derive(Clone, Copy)]
enum Interest {
    /// A function that the table does not have.
    Unknown,
    /// One of the table, that only an object which was linked past us does not have a wrapper for.
    Known(usize),
    /// `dlsym` and its kind, likewise.
    Lookup,
    /// One of the C library, that objects do not have from here if this library came late.
    Libc,
}

impl Interest {
    fn of(name: &[u8], is_late: bool) -> Option<Self> {
        match names::id(name) {
            Some(id) => is_late.then_some(Self::Known(id)),
            None if names::is_acl(name) || names::is_below(name) => Some(Self::Unknown),
            None if is_late && dlsym::has_stand_in(name) => Some(Self::Lookup),
            None => (walk::is_late() && WRAPPED.contains(&name)).then_some(Self::Libc),
        }
    }

    fn replacement(self, name: &CStr, state: SlotState, value: usize) -> Option<usize> {
        if walk::is_own_address(value) {
            return None;
        }
        match (self, state) {
            (Self::Unknown, SlotState::Bound) => stub(name, value),
            (Self::Unknown, _) => stub(name, symbols::called(name)?),
            (Self::Known(id), SlotState::Bound) if symbols::is_past_us(value) => {
                Some(real::wrapper_for(id, value)).filter(|wrapper| *wrapper != value)
            }
            (Self::Lookup, SlotState::Bound) if dlsym::is_real(name, value) => super::own(name),
            (Self::Libc, SlotState::Bound) if super::next(name) == Some(value) => super::own(name),
            (Self::Lookup | Self::Libc, SlotState::Unbound) if walk::is_late() => {
                let called = symbols::called(name)?;
                (super::next(name) == Some(called)).then(|| super::own(name))?
            }
            _ => None,
        }
    }
}

/// The wrapper for a late object instead of the usual one: one for the function that it would have been
/// linked to, if that differs. A slot that is not bound yet does not show whether the object's
/// surroundings come first.
fn wrapper_in(id: usize, found: &SymbolHolders, is_clear: bool) -> Option<usize> {
    let function = match is_clear {
        true => found.first(),
        false => found.only(),
    }?;
    let wrapper = real::wrapper_for(id, function);
    (walk::is_late() || Some(wrapper) != real::wrapper(id)).then_some(wrapper)
}

fn stub(name: &CStr, address: usize) -> Option<usize> {
    stubs::install(name, address).ok()
}

/// Content of a slot.
#[derive(Clone, Copy)]
enum SlotState {
    /// The value from the file: the loader has not relocated it yet.
    Incomplete,
    /// Empty: a weak reference to a missing function.
    Empty,
    /// The way to the loader, which looks the function up at the first call.
    Unbound,
    /// The function's address.
    Bound,
}

impl SlotState {
    fn of(object: &Object<'_>, reference: &Reference<'_>, value: usize) -> Self {
        // Values from the file are relative to the object's begin.
        let is_raw = object.base != 0 && value < object.range().1;
        match value {
            0 if reference.is_weak => Self::Empty,
            0 => Self::Incomplete,
            _ if is_raw => Self::Incomplete,
            _ if object.holds(value)
                && !object.functions_include(reference.name.to_bytes(), value) =>
            {
                Self::Unbound
            }
            _ => Self::Bound,
        }
    }
}
