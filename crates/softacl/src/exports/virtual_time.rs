//! softacl's own functions, which no card has: what a program does between its calls takes no virtual time, so it
//! says how much that would be. Without virtual time they do the same on the host's clock.

use crate::clock;

/// What the calling thread's clock shows.
// SAFETY: the names are softacl's own; nothing else in this library defines them.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn softaclNow() -> u64 {
    clock::now()
}

/// The calling thread works for so long.
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
