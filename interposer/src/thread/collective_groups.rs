//! Groups of collectives that a thread has begun. Their calls submit nothing. The call that ends the outermost group submits
//! them all.

use core::cell::Cell;

pub(crate) struct CollectiveGroups {
    depth: Cell<u32>,
    /// The handle and the serial of the stream that the first call of the outermost group names.
    first: Cell<Option<(u64, u32)>>,
}

impl CollectiveGroups {
    pub(super) const fn new() -> Self {
        Self {
            depth: Cell::new(0),
            first: Cell::new(None),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.depth.get() > 0
    }

    pub(crate) fn begin(&self) {
        if self.depth.get() == 0 {
            self.first.set(None);
        }
        self.depth.set(self.depth.get().saturating_add(1));
    }

    /// One that failed to end has ended as well.
    pub(crate) fn end(&self) {
        self.depth.set(self.depth.get().saturating_sub(1));
    }

    /// A call of the group names this stream. Returns whether it is the first stream of the group.
    pub(crate) fn name(&self, handle: u64, serial: u32) -> bool {
        let first = self.first.get().unwrap_or((handle, serial));
        self.first.set(Some(first));
        first == (handle, serial)
    }

    /// The handle and the serial of the first stream of the group, if its outermost end comes next.
    pub(crate) fn ending(&self) -> Option<(u64, u32)> {
        self.first.get().filter(|_| self.depth.get() == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::CollectiveGroups;

    #[test]
    fn the_outermost_end_has_the_first_stream() {
        let groups = CollectiveGroups::new();
        groups.begin();
        assert_eq!(groups.ending(), None);
        groups.begin();
        assert!(groups.name(7, 1));
        assert_eq!(groups.ending(), None);
        groups.end();
        assert!(groups.name(7, 1));
        assert!(!groups.name(8, 2));
        assert_eq!(groups.ending(), Some((7, 1)));
        groups.end();
        assert!(!groups.is_open());
        groups.begin();
        assert_eq!(groups.ending(), None);
        // The handle of a stream that ended, for another one.
        assert!(groups.name(7, 3));
        assert!(!groups.name(7, 1));
    }
}
