//! What tasks do to memory.

use super::Dice;

/// Cells in host memory, and as many in device memory.
pub(super) const CELLS: usize = 6;

/// A cell: those of the host first.
pub(super) type Cell = usize;

/// The work of one task, on cells of the host (`h`) and of the device (`d`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellWork {
    Up {
        d: usize,
        h: usize,
    },
    Down {
        h: usize,
        d: usize,
    },
    Copy {
        to: usize,
        from: usize,
    },
    Set {
        d: usize,
        byte: u8,
    },
    /// A host function.
    Mix {
        to: usize,
        from: usize,
        add: u32,
    },
}

impl CellWork {
    pub(super) fn random(dice: &mut Dice) -> Self {
        let (one, other) = (dice.roll(CELLS), dice.roll(CELLS));
        match dice.roll(5) {
            0 => Self::Up { d: one, h: other },
            1 => Self::Down { h: one, d: other },
            2 => Self::Copy {
                to: one,
                from: (one + 1 + dice.roll(CELLS - 1)) % CELLS,
            },
            3 => Self::Set {
                d: one,
                byte: dice.roll(256) as u8,
            },
            _ => Self::Mix {
                to: one,
                from: other,
                add: dice.roll(1000) as u32,
            },
        }
    }

    /// The kind of task, as in `graphs.csv`.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Up { .. } | Self::Down { .. } | Self::Copy { .. } => "memcpy",
            Self::Set { .. } => "memset",
            Self::Mix { .. } => "hostfunc",
        }
    }

    /// The line of the script that submits it to a stream.
    pub(super) fn line(self, stream: usize) -> String {
        match self {
            Self::Up { d, h } => format!("u {d} {h} {stream}"),
            Self::Down { h, d } => format!("d {h} {d} {stream}"),
            Self::Copy { to, from } => format!("k {to} {from} {stream}"),
            Self::Set { d, byte } => format!("z {d} {byte} {stream}"),
            Self::Mix { to, from, add } => format!("m {to} {from} {add} {stream}"),
        }
    }

    /// The cells that it reads and the one that it writes.
    pub(super) fn touches(self) -> (Vec<Cell>, Cell) {
        match self {
            Self::Up { d, h } => (vec![h], CELLS + d),
            Self::Down { h, d } => (vec![CELLS + d], h),
            Self::Copy { to, from } => (vec![CELLS + from], CELLS + to),
            Self::Set { d, .. } => (Vec::new(), CELLS + d),
            Self::Mix { to, from, .. } => (vec![to, from], to),
        }
    }
}

/// The memory after all operations that were added.
#[derive(Clone, Debug)]
pub(super) struct CellMemory([u32; 2 * CELLS]);

impl CellMemory {
    /// As a case begins.
    pub(super) fn new() -> Self {
        let mut cells = [0; 2 * CELLS];
        for (cell, value) in cells.iter_mut().zip(1..) {
            *cell = value;
        }
        Self(cells)
    }

    pub(super) fn run(&mut self, work: CellWork) {
        let cells = &mut self.0;
        match work {
            CellWork::Up { d, h } => cells[CELLS + d] = cells[h],
            CellWork::Down { h, d } => cells[h] = cells[CELLS + d],
            CellWork::Copy { to, from } => cells[CELLS + to] = cells[CELLS + from],
            CellWork::Set { d, byte } => cells[CELLS + d] = u32::from_ne_bytes([byte; 4]),
            CellWork::Mix { to, from, add } => {
                cells[to] = cells[to]
                    .wrapping_mul(31)
                    .wrapping_add(cells[from])
                    .wrapping_add(add);
            }
        }
    }

    pub(super) fn text(&self) -> String {
        let cells = self.0.iter().map(u32::to_string);
        cells.collect::<Vec<_>>().join(" ")
    }
}
