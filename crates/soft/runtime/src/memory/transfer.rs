//! Copies and fills: their arguments, and their effect on memory.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{MemoryKind, check_range, place_of};
use crate::code::{INVALID_PARAM, Outcome, RT_PARAM_INVALID, check, fault, require};
use softacl_options::Options;

/// Rows of bytes to move; a plain copy has one row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transfer {
    pub(crate) dst: usize,
    pub(crate) src: usize,
    pub(crate) dst_pitch: usize,
    pub(crate) src_pitch: usize,
    pub(crate) width: usize,
    pub(crate) rows: usize,
}

/// A transfer that passed its checks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CheckedTransfer {
    pub(crate) transfer: Transfer,
    from: MemoryKind,
    to: MemoryKind,
}

impl Transfer {
    pub(crate) const fn linear(dst: usize, src: usize, len: usize) -> Self {
        Self {
            dst,
            src,
            dst_pitch: len,
            src_pitch: len,
            width: len,
            rows: 1,
        }
    }

    /// A 2D copy of one of the given kinds; `None` when there is nothing to copy.
    pub(crate) fn in_rows(self, kind: u32, kinds: &[u32]) -> Outcome<Option<Self>> {
        if self.width == 0 || self.rows == 0 {
            return Ok(None);
        }
        self.check_ends()?;
        let fits = self.width <= self.dst_pitch && self.width <= self.src_pitch;
        require(fits, "the width exceeds a pitch")?;
        require(kinds.contains(&kind), NO_KIND)?;
        Ok(Some(self))
    }

    /// One row, of at most `room` bytes: the room is its pitch, so that a longer copy is refused. `None` when there
    /// is nothing to copy, even if other arguments are wrong.
    pub(crate) fn within(
        dst: usize,
        room: usize,
        src: usize,
        len: usize,
        kind: u32,
    ) -> Outcome<Option<Self>> {
        if len == 0 {
            return Ok(None);
        }
        let transfer = Self {
            dst_pitch: room,
            ..Self::linear(dst, src, len)
        };
        transfer.check_ends()?;
        require(kind <= LAST_LINEAR_KIND, NO_KIND)?;
        Ok(Some(transfer))
    }

    fn check_ends(&self) -> Outcome {
        require(
            self.dst != 0 && self.src != 0,
            "source or destination is NULL",
        )
    }

    const fn extent(&self, pitch: usize) -> Option<usize> {
        match (self.rows - 1).checked_mul(pitch) {
            Some(lead) => lead.checked_add(self.width),
            None => None,
        }
    }

    /// Checks the arguments; the direction depends on the addresses, not on the caller's kind.
    pub(crate) fn checked(self) -> Outcome<CheckedTransfer> {
        self.check_ends()?;
        check(self.width > 0 && self.rows > 0, "the length is 0")?;
        let fits = self.width <= self.dst_pitch && self.width <= self.src_pitch;
        check(fits, "the length exceeds the destination or a pitch")?;
        let extents = self.extent(self.dst_pitch).zip(self.extent(self.src_pitch));
        let Some((dst_len, src_len)) = extents else {
            return fault(RT_PARAM_INVALID, "the length is too large");
        };
        let (to, from) = (place_of(self.dst), place_of(self.src));
        check_range(self.dst, dst_len, to)?;
        check_range(self.src, src_len, from)?;
        Ok(CheckedTransfer {
            transfer: self,
            from,
            to,
        })
    }

    /// Moves the bytes. Overlapping ranges are moved as if through a buffer.
    pub(crate) fn run(&self) {
        if self.rows == 1 && self.width == 8 && (self.dst | self.src).is_multiple_of(8) {
            self.run_word();
            return;
        }
        for row in 0..self.rows {
            let dst = (self.dst + row * self.dst_pitch) as *mut u8;
            let src = (self.src + row * self.src_pitch) as *const u8;
            // SAFETY: ranges in our arenas were checked and stay mapped; others are the
            // program's own, which it must keep valid until the task has run.
            unsafe { std::ptr::copy(src, dst, self.width) };
        }
    }

    /// A value wait may be looking at the word, so it is moved in one piece.
    fn run_word(&self) {
        // SAFETY: as in `run`, and both addresses are aligned to the word.
        let (dst, src) = unsafe { (word_at(self.dst), word_at(self.src)) };
        dst.store(src.load(Ordering::Acquire), Ordering::Release);
    }
}

/// # Safety
/// The address must be aligned to 8 bytes and valid for as long as the word is used.
unsafe fn word_at<'a>(address: usize) -> &'a AtomicU64 {
    // SAFETY: the caller promises it.
    unsafe { AtomicU64::from_ptr(address as *mut u64) }
}

const NO_KIND: &str = "this kind of copy does not exist here";

/// The direction of a copy follows from its addresses, but its kind must exist: `ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE` is
/// the last one of plain copies.
const LAST_LINEAR_KIND: u32 = 5;
/// Kinds of 2D copies that the host waits for, and of those that are tasks.
pub(crate) const KINDS_2D: [u32; 3] = [1, 2, 4];
pub(crate) const KINDS_2D_ASYNC: [u32; 4] = [1, 2, 3, 4];

impl CheckedTransfer {
    pub(crate) fn touches_pageable(&self) -> bool {
        self.from == MemoryKind::Pageable || self.to == MemoryKind::Pageable
    }

    /// From the host to a device or back, as batches require.
    pub(crate) fn is_one_way(&self) -> bool {
        self.from.is_host() != self.to.is_host()
    }

    pub(super) fn is_host_to_host(&self) -> bool {
        self.from.is_host() && self.to.is_host()
    }

    /// The documented duration: a fixed latency and the bytes over the bandwidth of the direction.
    pub(crate) fn duration_ns(&self, options: &Options) -> u64 {
        let bytes = (self.transfer.width * self.transfer.rows) as u64;
        let mbps = match (self.from.is_host(), self.to.is_host()) {
            (true, true) => return 0,
            (true, false) => options.h2d_mbps,
            (false, true) => options.d2h_mbps,
            (false, false) => options.d2d_mbps,
        };
        options.copy_ns + transfer_ns(bytes, mbps)
    }
}

/// Time for bytes at a rate in 10^6 bytes per second.
pub(crate) const fn transfer_ns(bytes: u64, mbps: u64) -> u64 {
    bytes.saturating_mul(1000) / mbps
}

/// A pattern written over a range.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fill {
    dst: usize,
    len: usize,
    value: u32,
    /// Bytes in the pattern: 1 or 4.
    unit: usize,
}

impl Fill {
    /// Fills bytes; `None` when there is nothing to fill, even if other arguments are wrong.
    pub(crate) fn bytes(dst: usize, room: usize, value: i32, len: usize) -> Outcome<Option<Self>> {
        if len == 0 {
            return Ok(None);
        }
        require(dst != 0, "the destination is NULL")?;
        check(len <= room, "the length exceeds the destination")?;
        let value = value as u32;
        let unit = 1;
        Self {
            dst,
            len,
            value,
            unit,
        }
        .checked()
    }

    /// Fills 32-bit words. The upper layer makes all checks here.
    pub(crate) fn words(
        dst: usize,
        room: usize,
        value: u32,
        count: usize,
    ) -> Outcome<Option<Self>> {
        if count == 0 {
            return Ok(None);
        }
        require(dst != 0, "the destination is NULL")?;
        require(
            dst.is_multiple_of(4),
            "the address is not aligned to 4 bytes",
        )?;
        let Some(len) = count.checked_mul(4).filter(|&len| len <= room) else {
            return fault(INVALID_PARAM, "the length exceeds the destination");
        };
        let is_ours = place_of(dst) != MemoryKind::Pageable;
        require(is_ours, "the memory was not allocated through acl")?;
        let unit = 4;
        Self {
            dst,
            len,
            value,
            unit,
        }
        .checked()
    }

    fn checked(self) -> Outcome<Option<Self>> {
        check_range(self.dst, self.len, place_of(self.dst))?;
        Ok(Some(self))
    }

    pub(super) fn place(&self) -> MemoryKind {
        place_of(self.dst)
    }

    pub(crate) fn duration_ns(&self, options: &Options) -> u64 {
        options.memset_ns + transfer_ns(self.len as u64, options.memset_mbps)
    }

    pub(crate) fn run(&self) {
        if self.unit == 1 {
            // SAFETY: as in `Transfer::run`.
            unsafe { std::ptr::write_bytes(self.dst as *mut u8, self.value as u8, self.len) };
            return;
        }
        for index in 0..self.len / 4 {
            // SAFETY: as in `Transfer::run`; the address was checked to be aligned.
            unsafe { (self.dst as *mut u32).add(index).write(self.value) };
        }
    }
}
