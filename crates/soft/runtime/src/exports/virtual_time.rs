//! Functions that only softacl has. In virtual time, a program's work between its calls takes no time, so the program
//! passes the duration of this work. Without virtual time, these functions wait on the host's clock.

use crate::clock;

/// The calling thread's time in ns.
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

/// The calling thread waits until its clock has this time, such as one that another thread read.
// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn softaclReach(nanoseconds: u64) {
    clock::wait_until(nanoseconds);
}
