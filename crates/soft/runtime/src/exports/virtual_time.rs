//! softacl's additional functions, which no card has: the program's work between its calls takes no
//! virtual time, so it passes the duration itself. Without virtual time they do the same on the host's
//! clock.

use crate::clock;

/// The reading of the calling thread's clock.
// SAFETY: the names are softacl's own; nothing else in this library defines them.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn softaclNow() -> u64 {
    clock::now()
}

/// The calling thread works for this time.
// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn softaclWork(nanoseconds: u64) {
    clock::wait_until(clock::now().saturating_add(nanoseconds));
}

/// The calling thread does not go on before this time of another thread's clock.
// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn softaclReach(nanoseconds: u64) {
    clock::wait_until(nanoseconds);
}
