//! Memory that the program's own allocator describes by mstx: heaps, blocks that it gives out, and blocks that it gets back.

use ascend_trace_format::api::ArgKind;

use crate::described::{place, read};

/// Blocks of a call that are recorded. PyTorch has one in each call.
const MOST: usize = 5;
/// Words of a block: its device, its address and its bytes.
const WORDS: usize = 3;

/// `mstxMemVirtualRangeDesc_t`.
#[repr(C)]
#[derive(Clone, Copy)]
struct VirtualRange {
    device: u32,
    address: u64,
    bytes: u64,
}

/// `mstxMemHeapDesc_t`. PyTorch sets only the last field.
#[repr(C)]
#[derive(Clone, Copy)]
struct Heap {
    _usage: u32,
    _memory_type: u32,
    range: usize,
}

/// `mstxMemRegionsRegisterBatch_t`, up to its last input. PyTorch sets only the number and the address.
#[repr(C)]
#[derive(Clone, Copy)]
struct Regions {
    _heap: usize,
    _memory_type: u32,
    count: usize,
    ranges: usize,
}

/// `mstxMemRegionRef_t`.
#[repr(C)]
#[derive(Clone, Copy)]
struct RegionRef {
    kind: u32,
    address: u64,
}

/// The kind of a reference that is an address. Others are handles.
const BY_ADDRESS: u32 = 0;

/// `mstxMemRegionsUnregisterBatch_t`.
#[repr(C)]
#[derive(Clone, Copy)]
struct RegionRefs {
    count: usize,
    references: usize,
}

/// The words of some blocks.
pub(crate) struct BlockWords {
    words: [i64; MOST * WORDS],
    length: usize,
    /// Whether the call has more blocks.
    pub(crate) is_cut: bool,
}

impl BlockWords {
    /// The words of an argument of this kind. `None` if it leads to no memory, or to something else than addresses.
    pub(crate) fn of(kind: ArgKind, address: usize) -> Option<Self> {
        let mut found = Self {
            words: [0; MOST * WORDS],
            length: 0,
            is_cut: false,
        };
        match kind {
            ArgKind::Heap => {
                let heap: Heap = read(address)?;
                found.add_range(heap.range)?;
            }
            ArgKind::Regions => {
                let regions: Regions = read(address)?;
                found.is_cut = regions.count > MOST;
                for index in 0..regions.count.min(MOST) {
                    found.add_range(place::<VirtualRange>(regions.ranges, index))?;
                }
            }
            ArgKind::RegionRefs => {
                let refs: RegionRefs = read(address)?;
                found.is_cut = refs.count > MOST;
                for index in 0..refs.count.min(MOST) {
                    let reference: RegionRef = read(place::<RegionRef>(refs.references, index))?;
                    if reference.kind != BY_ADDRESS {
                        return None;
                    }
                    found.add(reference.address);
                }
            }
            _ => return None,
        }
        Some(found)
    }

    fn add_range(&mut self, address: usize) -> Option<()> {
        let range: VirtualRange = read(address)?;
        self.add(range.device.into());
        self.add(range.address);
        self.add(range.bytes);
        Some(())
    }

    fn add(&mut self, word: u64) {
        if let Some(place) = self.words.get_mut(self.length) {
            *place = word.cast_signed();
            self.length += 1;
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        self.words.iter().copied().take(self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(kind: ArgKind, address: usize) -> Option<Vec<i64>> {
        BlockWords::of(kind, address).map(|it| it.iter().collect())
    }

    fn address<T>(of: &T) -> usize {
        std::ptr::from_ref(of) as usize
    }

    fn ranges(count: u64) -> Vec<VirtualRange> {
        let range = |number| VirtualRange {
            device: 1,
            address: 512 * number,
            bytes: 100 + number,
        };
        (1..=count).map(range).collect()
    }

    #[test]
    fn descriptions_become_words() {
        let all = ranges(2);
        let heap = Heap {
            _usage: 7,
            _memory_type: 7,
            range: address(&all[0]),
        };
        assert_eq!(
            words(ArgKind::Heap, address(&heap)),
            Some(vec![1, 512, 101])
        );
        let regions = Regions {
            _heap: 7,
            _memory_type: 7,
            count: 2,
            ranges: all.as_ptr() as usize,
        };
        let found = words(ArgKind::Regions, address(&regions));
        assert_eq!(found, Some(vec![1, 512, 101, 1, 1024, 102]));
        let mut reference = RegionRef {
            kind: BY_ADDRESS,
            address: 512,
        };
        let unregister = |of: &RegionRef| RegionRefs {
            count: 1,
            references: address(of),
        };
        let found = words(ArgKind::RegionRefs, address(&unregister(&reference)));
        assert_eq!(found, Some(vec![512]));
        reference.kind = 1;
        assert_eq!(
            words(ArgKind::RegionRefs, address(&unregister(&reference))),
            None,
            "a handle is no address"
        );
    }

    #[test]
    fn many_blocks_are_cut_and_no_memory_is_nothing() {
        let all = ranges(9);
        let regions = |ranges: usize| Regions {
            _heap: 0,
            _memory_type: 0,
            count: 9,
            ranges,
        };
        let found = BlockWords::of(ArgKind::Regions, address(&regions(all.as_ptr() as usize)));
        let found = found.expect("their words");
        assert!(found.is_cut && found.iter().count() == MOST * WORDS);
        assert_eq!(words(ArgKind::Regions, address(&regions(0))), None);
        for kind in [ArgKind::Heap, ArgKind::Regions, ArgKind::RegionRefs] {
            assert_eq!(words(kind, 0), None);
        }
    }
}
