//! The part of one rank in a collective: the data that it shows, and its use of the others' data.

use super::element::{Element, Reduction};
use super::region::WINDOW;

/// Bytes of the program's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DataParts {
    pub(crate) address: usize,
    pub(crate) bytes: u64,
    /// Their place in the window.
    pub(crate) offset: u64,
}

/// Data for the program's memory.
#[derive(Debug, Clone)]
pub(crate) enum DataGet {
    /// The data of one rank there.
    Copy { from: usize, to: DataParts },
    /// What all ranks show there, made one.
    Combine {
        to: DataParts,
        element: Element,
        reduction: Reduction,
    },
}

/// One side of a message between two ranks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message {
    pub(crate) peer: usize,
    pub(crate) is_sent: bool,
    pub(crate) address: usize,
    pub(crate) bytes: u64,
}

/// A collective from the view of one rank.
#[derive(Debug, Default)]
pub(crate) struct CollectivePlan {
    pub(crate) shows: Vec<DataParts>,
    pub(crate) gets: Vec<DataGet>,
    /// Bytes that go over the busiest link.
    pub(crate) traffic: u64,
    /// The same for all ranks that ask for the same.
    pub(crate) print: u64,
}

/// Each rank has as much room for each other one.
pub(crate) const fn segment(ranks: usize, rank: usize) -> u64 {
    WINDOW / ranks as u64 / 64 * 64 * rank as u64
}

impl CollectivePlan {
    /// A plan that only ranks with the same numbers take part in.
    pub(crate) fn new(numbers: &[u64]) -> Self {
        let mixed = |print: u64, number: &u64| {
            (print ^ number)
                .wrapping_mul(0x0100_0000_01b3)
                .rotate_left(17)
        };
        Self {
            print: numbers.iter().fold(0xcbf2_9ce4_8422_2325, mixed),
            ..Self::default()
        }
    }

    pub(crate) fn show(mut self, address: usize, bytes: u64, offset: u64) -> Self {
        self.shows.push(DataParts {
            address,
            bytes,
            offset,
        });
        self
    }

    pub(crate) fn copy(mut self, from: usize, address: usize, bytes: u64, offset: u64) -> Self {
        let to = DataParts {
            address,
            bytes,
            offset,
        };
        self.gets.push(DataGet::Copy { from, to });
        self
    }

    pub(crate) fn combine(
        mut self,
        [element, reduction]: [i32; 2],
        address: usize,
        bytes: u64,
        offset: u64,
    ) -> crate::code::Outcome<Self> {
        let (element, reduction) = (Element::of(element)?, Reduction::of(reduction)?);
        element.may_be_reduced()?;
        let to = DataParts {
            address,
            bytes,
            offset,
        };
        self.gets.push(DataGet::Combine {
            to,
            element,
            reduction,
        });
        Ok(self)
    }

    pub(crate) fn taking(mut self, traffic: u64) -> Self {
        self.traffic = traffic;
        self
    }
}
