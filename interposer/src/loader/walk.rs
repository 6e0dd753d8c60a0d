//! Walking over the objects that the loader has mapped, in the order in which it did so.

use core::ffi::{CStr, c_int, c_void};
use core::ops::ControlFlow;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

use super::fork_guard::InsideGuard;
use super::object::Object;
use super::{glibc_state, link_map};

/// The names of the C library's file begin so.
pub(super) const C_LIBRARY: &[u8] = b"libc.so.";

/// Objects that the program was started with, counted when we first looked; 0 before that.
static STARTED_WITH: AtomicUsize = AtomicUsize::new(0);
/// This library came into a process that was running.
static IS_LATE: AtomicBool = AtomicBool::new(false);

/// An object and where it stands.
#[derive(Clone, Copy)]
pub(crate) struct ObjectPosition<'a> {
    pub(crate) object: Object<'a>,
    pub(crate) position: usize,
}

/// Whether this library came into a process that was running: nothing was linked to it, and its place in the loader's order
/// says nothing.
pub(crate) fn is_late() -> bool {
    IS_LATE.load(Relaxed)
}

/// The same, before any other look.
pub(crate) fn is_late_now() -> bool {
    each(|_| ControlFlow::Break(()));
    is_late()
}

/// Whether the object in this place was loaded at the start.
pub(super) fn is_from_start(position: usize) -> bool {
    position < STARTED_WITH.load(Relaxed)
}

impl ObjectPosition<'_> {
    /// Whether it was loaded at the start: such objects serve all others, and are never unloaded.
    pub(crate) fn is_from_start(&self) -> bool {
        is_from_start(self.position)
    }

    /// Whether it contains this library.
    pub(crate) fn is_own(&self) -> bool {
        self.object.holds(own_address())
    }
}

/// Where this library begins, and how far it reaches; 0 until we first looked.
static OWN: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// Whether an address is in this library. Allowed during a walk.
pub(crate) fn is_own_address(address: usize) -> bool {
    let [start, length] = [&OWN[0], &OWN[1]].map(|word| word.load(Relaxed));
    address.wrapping_sub(start) < length
}

/// This library's memory: first address and length; zeroes until we first looked.
pub(crate) fn own_range() -> [usize; 2] {
    [&OWN[0], &OWN[1]].map(|word| word.load(Relaxed))
}

/// Some address of this library.
pub(crate) fn own_address() -> usize {
    static ANCHOR: u8 = 0;
    core::ptr::from_ref(&ANCHOR) as usize
}

type Action<'a> = &'a mut dyn FnMut(ObjectPosition<'_>) -> ControlFlow<()>;

struct Walk<'a> {
    action: Action<'a>,
    position: usize,
}

/// Calls `action` with every object. The loader is locked meanwhile: `action` must not call it.
pub(crate) fn each(mut action: impl FnMut(ObjectPosition<'_>) -> ControlFlow<()>) {
    if STARTED_WITH.load(Relaxed) == 0 {
        let count = look_at_start();
        // The first to look counts; a second one at the same time sees the same objects.
        let _ = STARTED_WITH.compare_exchange(0, count, Relaxed, Relaxed);
    }
    walk(&mut action);
}

/// Finds this library. Returns how many objects the program was started with.
fn look_at_start() -> usize {
    let mut count = 0usize;
    let mut c_library = None;
    let mut is_late = false;
    walk(&mut |place| {
        count += 1;
        if place.object.file_name().starts_with(C_LIBRARY) {
            c_library = c_library.or(Some(place.position));
        }
        if place.is_own() {
            let (start, length) = place.object.range();
            OWN[0].store(start, Relaxed);
            OWN[1].store(length, Relaxed);
            // A preloaded library comes before all that the program needs.
            is_late = c_library.is_some();
        }
        ControlFlow::Continue(())
    });
    IS_LATE.store(is_late, Relaxed);
    match is_late {
        // The loader is loading this library, in this thread: the list does not change.
        true => link_map::count_at_start(),
        false => count,
    }
}

fn walk(action: Action<'_>) {
    let _inside = InsideGuard::enter();
    if glibc_state::is_lock_lost() {
        // SAFETY: no thread can take the lock any more that is needed to remove an object.
        unsafe { link_map::each(action) };
        return;
    }
    let mut walk = Walk {
        action,
        position: 0,
    };
    let data = (&raw mut walk).cast::<c_void>();
    // SAFETY: `visit` gets `data` back, which is a live `Walk`, and keeps to the callback's rules.
    unsafe { iterate(visit, data) };
}

type Visit = unsafe extern "C" fn(*mut libc::dl_phdr_info, usize, *mut c_void) -> c_int;
type Iterate = unsafe extern "C" fn(Option<Visit>, *mut c_void) -> c_int;

/// The C library's own `dl_iterate_phdr`: sanitizers have one as well, which does not work before
/// they are ready, and they ask for names earlier than that.
unsafe fn iterate(visit: Visit, data: *mut c_void) {
    static FOUND: AtomicUsize = AtomicUsize::new(0);
    let mut address = FOUND.load(Acquire);
    if address == 0 {
        address = link_map::c_library()
            .and_then(|library| library.function(c"dl_iterate_phdr"))
            .unwrap_or(libc::dl_iterate_phdr as *const () as usize);
        FOUND.store(address, Release);
    }
    // SAFETY: the address is that of `dl_iterate_phdr`.
    let function = unsafe { core::mem::transmute::<usize, Iterate>(address) };
    // SAFETY: as the caller says.
    unsafe { function(Some(visit), data) };
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: `data` is the `Walk` given to `dl_iterate_phdr`, without another user during the call.
    let walk = unsafe { &mut *data.cast::<Walk<'_>>() };
    // SAFETY: the loader gives a valid description, and keeps the object until this returns.
    let object = unsafe { Object::new(&*info) };
    let place = ObjectPosition {
        object,
        position: walk.position,
    };
    walk.position += 1;
    c_int::from((walk.action)(place).is_break())
}

/// How many objects the loader has ever added and removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(crate) added: u64,
    pub(crate) removed: u64,
}

/// How many objects the loader has ever added: without a call of the loader, where that can be.
pub(crate) fn added() -> u64 {
    glibc_state::added().unwrap_or_else(|| changes().added)
}

/// The same where it takes no call of the loader; 0 elsewhere.
pub(crate) fn added_if_known() -> u64 {
    glibc_state::added().unwrap_or(0)
}

/// The last result of `changes`.
static REMOVED: AtomicU64 = AtomicU64::new(0);

pub(crate) fn changes() -> Changes {
    let _inside = InsideGuard::enter();
    if glibc_state::is_lock_lost() {
        // Nothing is removed any more.
        return Changes {
            added: glibc_state::added().unwrap_or(0),
            removed: REMOVED.load(Relaxed),
        };
    }
    let mut changes = Changes::default();
    let data = (&raw mut changes).cast::<c_void>();
    // SAFETY: the callback writes to the live local behind `data`.
    unsafe { iterate(read_changes, data) };
    REMOVED.store(changes.removed, Relaxed);
    changes
}

unsafe extern "C" fn read_changes(
    info: *mut libc::dl_phdr_info,
    _: usize,
    data: *mut c_void,
) -> c_int {
    // SAFETY: `data` is what `changes` gave, `info` the loader's description.
    let changes = unsafe {
        let changes = &mut *data.cast::<Changes>();
        *changes = Changes {
            added: (*info).dlpi_adds,
            removed: (*info).dlpi_subs,
        };
        *changes
    };
    glibc_state::learn(changes.added);
    1
}

/// A path, copied because the object may go away.
pub(crate) struct Path([u8; Self::LONGEST]);

impl Path {
    const LONGEST: usize = 1024;

    pub(crate) fn of(object: &Object<'_>) -> Option<Self> {
        let mut path = [0; Self::LONGEST];
        let name = object.name.to_bytes_with_nul();
        path.get_mut(..name.len())?.copy_from_slice(name);
        Some(Self(path))
    }

    pub(crate) fn text(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.0).unwrap_or_default()
    }
}

/// The object that contains an address: its path and base, and whether it was loaded at the start.
pub(crate) fn holder(address: usize) -> Option<Holder> {
    let mut found = None;
    each(|place| {
        if !place.object.holds(address) {
            return ControlFlow::Continue(());
        }
        found = Holder::of(&place);
        ControlFlow::Break(())
    });
    found
}

/// The object that was loaded at this base.
pub(crate) fn holder_of_base(base: usize) -> Option<Holder> {
    let mut found = None;
    each(|place| {
        if place.object.base != base {
            return ControlFlow::Continue(());
        }
        found = Holder::of(&place);
        ControlFlow::Break(())
    });
    found
}

/// Facts about an object after the walk.
pub(crate) struct Holder {
    pub(crate) path: Path,
    pub(crate) base: usize,
    pub(crate) position: usize,
    pub(crate) is_from_start: bool,
}

impl Holder {
    pub(crate) fn of(place: &ObjectPosition<'_>) -> Option<Self> {
        Some(Self {
            path: Path::of(&place.object)?,
            base: place.object.base,
            position: place.position,
            is_from_start: place.is_from_start(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(file: &str, name: &CStr) -> Option<usize> {
        let mut found = None;
        each(|place| {
            if String::from_utf8_lossy(place.object.file_name()).starts_with(file) {
                found = place.object.function(name);
            }
            ControlFlow::Continue(())
        });
        found
    }

    #[test]
    fn functions_of_mapped_libraries_are_where_the_loader_says() {
        let getpid = libc::getpid as *const () as usize;
        assert_eq!(function("libc.so", c"getpid"), Some(getpid));
        assert_eq!(function("libc.so", c"no_such_function_at_all"), None);
    }

    #[test]
    fn an_object_is_found_by_an_address_in_it() {
        let own = holder(own_address()).unwrap();
        assert!(own.is_from_start);
        let libc = holder(libc::getpid as *const () as usize).unwrap();
        assert!(libc.path.text().to_str().unwrap().contains("libc.so"));
        assert!(libc.position > own.position);
        assert!(holder(8).is_none());
    }
}
