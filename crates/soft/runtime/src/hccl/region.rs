//! Shared memory of a communicator's ranks: a file without a name, which the kernel removes with its
//! last user.
//!
//! It begins with numbers: the members, the arrival of each at its latest collectives, and the messages
//! between pairs. The windows follow, one of each rank for collectives of even and one for those of odd
//! number, and one of each pair. A collective begins only when the rank's previous one has ended, which
//! all had joined: so a window of two collectives ago has no readers.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{PARA, SYSCALL};
use crate::code::{Fault, Outcome, fault};

/// The largest number of ranks.
pub(super) const MOST: usize = 64;
/// Largest number of bytes in transfer of one rank, or one pair. Only written bytes take memory.
pub(super) const WINDOW: u64 = 1 << 38;

const MEMBERS: usize = 16;
const MEMBER: usize = 8;
const ARRIVALS: usize = MEMBERS + MOST * MEMBER;
const ARRIVAL: usize = 4;
const PAIRS: usize = ARRIVALS + MOST * 2 * ARRIVAL;
const PAIR: usize = 16;
const SUBGROUPS: usize = PAIRS + MOST * MOST * PAIR;
const SUBGROUP: usize = 4;
const MOST_SUBGROUPS: usize = 1024;
const NUMBERS: usize = SUBGROUPS + MOST_SUBGROUPS * SUBGROUP;
const HEADER: u64 = ((NUMBERS * 8) as u64).next_multiple_of(1 << 20);

const RANKS: usize = 0;
const JOINED: usize = 1;

/// Identity of a rank's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RankIdentity {
    pub(super) pid: u64,
    /// When the process began: the system may give its pid to a later process.
    pub(super) began: u64,
    pub(super) has_left: bool,
}

/// Where a region can be found: a descriptor of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RegionPlace {
    pub(super) pid: u64,
    pub(super) began: u64,
    pub(super) descriptor: u64,
}

pub(super) struct Region {
    file: File,
    numbers: NonNull<AtomicU64>,
}

// SAFETY: the numbers are atomic, and the file is used at offsets.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length and is used no more.
        unsafe { libc::munmap(self.numbers.as_ptr().cast(), HEADER as usize) };
    }
}

const NO_REGION: Fault = Fault {
    code: SYSCALL,
    why: "the memory that ranks share cannot be made or found",
};

impl Region {
    pub(super) fn create() -> Outcome<Self> {
        let (call, name) = (libc::SYS_memfd_create, c"softacl-hccl".as_ptr());
        // SAFETY: a name and flags; the descriptor is ours alone. The C library's own function is newer than 2.17.
        let descriptor = unsafe { libc::syscall(call, name, libc::MFD_CLOEXEC) };
        let descriptor = i32::try_from(descriptor).unwrap_or(-1);
        if descriptor < 0 {
            return Err(NO_REGION);
        }
        // SAFETY: a new descriptor.
        let file = unsafe { File::from_raw_fd(descriptor) };
        let windows = (2 * MOST + MOST * MOST) as u64;
        file.set_len(HEADER + windows * WINDOW)
            .map_err(|_| NO_REGION)?;
        Self::mapped(file)
    }

    /// Opens what another process, or this one, has made.
    pub(super) fn open(place: RegionPlace) -> Outcome<Self> {
        if !is_alive(place.pid, place.began) {
            return fault(
                super::REMOTE,
                "the process that made the root info has ended",
            );
        }
        let path = format!("/proc/{}/fd/{}", place.pid, place.descriptor);
        let file = OpenOptions::new().read(true).write(true).open(path);
        Self::mapped(file.map_err(|_| NO_REGION)?)
    }

    fn mapped(file: File) -> Outcome<Self> {
        if file.metadata().map_or(0, |it| it.len()) < HEADER {
            return Err(NO_REGION);
        }
        // SAFETY: a new mapping of a file that is longer; nothing else is at its place.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                HEADER as usize,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(address.cast()) {
            Some(numbers) if address != libc::MAP_FAILED => Ok(Self { file, numbers }),
            _ => Err(NO_REGION),
        }
    }

    pub(super) fn place(&self) -> RegionPlace {
        let pid = u64::from(std::process::id());
        RegionPlace {
            pid,
            began: began(pid),
            descriptor: self.file.as_raw_fd() as u64,
        }
    }

    fn number(&self, index: usize) -> &AtomicU64 {
        assert!(index < NUMBERS, "a number beyond the header");
        // SAFETY: inside of the mapping, which lasts as long as `self`; all access is atomic.
        unsafe { self.numbers.add(index).as_ref() }
    }

    fn get(&self, index: usize) -> u64 {
        self.number(index).load(Ordering::Acquire)
    }

    fn set(&self, index: usize, value: u64) {
        self.number(index).store(value, Ordering::Release);
    }

    /// Takes a rank's place. All have to say the same number of ranks.
    pub(super) fn join(&self, ranks: usize, rank: usize) -> Outcome {
        const WRONG: Fault = Fault {
            code: PARA,
            why: "ranks and their number do not fit those of the communicator",
        };
        let first = self.number(RANKS).compare_exchange(
            0,
            ranks as u64,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        if first.is_err_and(|known| known != ranks as u64) {
            return Err(WRONG);
        }
        let pid = u64::from(std::process::id());
        let at = MEMBERS + rank * MEMBER;
        self.number(at)
            .compare_exchange(0, pid, Ordering::AcqRel, Ordering::Acquire)
            .map_err(|_| WRONG)?;
        self.set(at + 1, began(pid));
        self.number(JOINED).fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    pub(super) fn joined(&self) -> usize {
        self.get(JOINED) as usize
    }

    pub(super) fn leave(&self, rank: usize) {
        self.set(MEMBERS + rank * MEMBER + 2, 1);
    }

    pub(super) fn member(&self, rank: usize) -> RankIdentity {
        let at = MEMBERS + rank * MEMBER;
        RankIdentity {
            pid: self.get(at),
            began: self.get(at + 1),
            has_left: self.get(at + 2) != 0,
        }
    }

    /// Announces that a rank has joined a collective, with data that stay from now on. `print` is the
    /// same where all ranks make the same request.
    pub(super) fn arrive(&self, rank: usize, number: u64, begin: u64, print: u64) {
        let at = arrival(rank, number);
        self.set(at + 1, begin);
        self.set(at + 2, print);
        self.set(at, number + 1);
    }

    /// When a rank joined a collective, and its request.
    pub(super) fn arrived(&self, rank: usize, number: u64) -> Option<(u64, u64)> {
        let at = arrival(rank, number);
        (self.get(at) == number + 1).then(|| (self.get(at + 1), self.get(at + 2)))
    }

    /// The same for one side of a message between two ranks.
    pub(super) fn arrive_at_pair(
        &self,
        pair: RankPair,
        side: MessageSide,
        number: u64,
        begin: u64,
        bytes: u64,
    ) {
        let at = pair.index(side, number);
        self.set(at + 1, begin);
        self.set(at + 2, bytes);
        self.set(at, number + 1);
    }

    pub(super) fn arrived_at_pair(
        &self,
        pair: RankPair,
        side: MessageSide,
        number: u64,
    ) -> Option<(u64, u64)> {
        let at = pair.index(side, number);
        (self.get(at) == number + 1).then(|| (self.get(at + 1), self.get(at + 2)))
    }

    /// How many messages of a pair were taken.
    pub(super) fn taken(&self, pair: RankPair) -> u64 {
        self.get(pair.base() + 12)
    }

    pub(super) fn take(&self, pair: RankPair, number: u64) {
        self.set(pair.base() + 12, number + 1);
    }

    /// Says where the region of a group of some of the ranks is.
    pub(super) fn tell_subgroup(&self, key: u64, place: RegionPlace) -> Outcome {
        for index in 0..MOST_SUBGROUPS {
            let at = SUBGROUPS + index * SUBGROUP;
            let free =
                self.number(at + 3)
                    .compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire);
            if free.is_ok() {
                self.set(at + 1, place.pid);
                self.set(at + 2, place.descriptor);
                self.set(at, key);
                return Ok(());
            }
        }
        fault(
            super::NOT_SUPPORTED,
            "a communicator has no room for more groups",
        )
    }

    pub(super) fn subgroup(&self, key: u64) -> Option<RegionPlace> {
        (0..MOST_SUBGROUPS)
            .map(|index| SUBGROUPS + index * SUBGROUP)
            .find_map(|at| {
                let pid = self.get(at + 1);
                (self.get(at) == key).then(|| RegionPlace {
                    pid,
                    began: began(pid),
                    descriptor: self.get(at + 2),
                })
            })
    }

    pub(super) fn write(&self, window: DataWindow, offset: u64, bytes: &[u8]) -> Outcome {
        self.file
            .write_all_at(bytes, window.begin() + offset)
            .map_err(|_| NO_REGION)
    }

    pub(super) fn read(&self, window: DataWindow, offset: u64, bytes: &mut [u8]) -> Outcome {
        self.file
            .read_exact_at(bytes, window.begin() + offset)
            .map_err(|_| NO_REGION)
    }

    /// Gives back the memory of a window.
    pub(super) fn clear(&self, window: DataWindow) {
        let flags = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: the file belongs to this library, and the window has no readers. Failure leaves the
        // memory unchanged.
        unsafe {
            libc::fallocate(
                self.file.as_raw_fd(),
                flags,
                window.begin() as i64,
                WINDOW as i64,
            );
        }
    }
}

const fn arrival(rank: usize, number: u64) -> usize {
    ARRIVALS + (rank * 2 + (number % 2) as usize) * ARRIVAL
}

/// Who sends to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RankPair {
    pub(super) from: usize,
    pub(super) to: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageSide {
    Sender,
    Receiver,
}

impl RankPair {
    const fn base(self) -> usize {
        PAIRS + (self.from * MOST + self.to) * PAIR
    }

    const fn index(self, side: MessageSide, number: u64) -> usize {
        let side = match side {
            MessageSide::Sender => 0,
            MessageSide::Receiver => 2,
        };
        self.base() + (side + (number % 2) as usize) * 3
    }
}

/// Room for data.
#[derive(Debug, Clone, Copy)]
pub(super) enum DataWindow {
    /// Of a rank, for collectives of one parity.
    Rank(usize, u64),
    Pair(RankPair),
}

impl DataWindow {
    const fn begin(self) -> u64 {
        let index = match self {
            Self::Rank(rank, number) => rank as u64 * 2 + number % 2,
            Self::Pair(pair) => (2 * MOST + pair.from * MOST + pair.to) as u64,
        };
        HEADER + index * WINDOW
    }
}

/// When a process began, in the kernel's ticks; 0 without one.
pub(super) fn began(pid: u64) -> u64 {
    let stat_line = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in parentheses may hold anything.
    let fields = stat_line.rsplit_once(')').map_or("", |(_, fields)| fields);
    let mut fields = fields.split_whitespace();
    let state = fields.next();
    match state {
        None | Some("Z" | "X") => 0,
        Some(_) => fields
            .nth(18)
            .and_then(|text| text.parse().ok())
            .unwrap_or(0),
    }
}

/// Is it the same process that began then?
pub(super) fn is_alive(pid: u64, when: u64) -> bool {
    when != 0 && began(pid) == when
}

#[cfg(test)]
mod tests {
    use super::{DataWindow, MessageSide, RankPair, Region, began, is_alive};

    #[test]
    fn two_mappings_show_the_same() {
        let one = Region::create().unwrap();
        let other = Region::open(one.place()).unwrap();
        one.join(2, 0).unwrap();
        other.join(2, 1).unwrap();
        assert_eq!((one.joined(), other.joined()), (2, 2));
        assert!(one.join(2, 1).is_err() && one.join(3, 1).is_err());
        one.arrive(0, 5, 77, 9);
        assert_eq!(other.arrived(0, 5), Some((77, 9)));
        assert_eq!(
            (
                other.arrived(0, 4),
                other.arrived(0, 7),
                other.arrived(1, 5)
            ),
            (None, None, None)
        );
        let pair = RankPair { from: 1, to: 0 };
        other.arrive_at_pair(pair, MessageSide::Sender, 0, 3, 4);
        assert_eq!(
            one.arrived_at_pair(pair, MessageSide::Sender, 0),
            Some((3, 4))
        );
        assert_eq!(one.arrived_at_pair(pair, MessageSide::Receiver, 0), None);
        one.write(DataWindow::Rank(0, 1), 10, b"data").unwrap();
        let mut read = [0; 4];
        other.read(DataWindow::Rank(0, 3), 10, &mut read).unwrap();
        assert_eq!(&read, b"data");
        one.clear(DataWindow::Rank(0, 1));
        other.read(DataWindow::Rank(0, 1), 10, &mut read).unwrap();
        assert_eq!(read, [0; 4]);
    }

    #[test]
    fn a_process_is_known_by_its_number_and_its_beginning() {
        let own = u64::from(std::process::id());
        assert!(is_alive(own, began(own)));
        assert!(!is_alive(own, began(own) + 1));
        assert!(!is_alive(0x7fff_fff0, 5));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = u64::from(child.id());
        let when = began(pid);
        child.wait().unwrap();
        assert!(!is_alive(pid, when));
    }
}
