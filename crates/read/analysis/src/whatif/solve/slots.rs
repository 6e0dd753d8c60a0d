//! Rows of values that are needed later: one value for each simulation.

/// A row that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(u32);

/// Rows that are kept until nothing needs them any more.
#[derive(Debug)]
pub(super) struct Slots {
    values: Vec<i64>,
    width: usize,
    free: Vec<Slot>,
}

impl Slots {
    pub(super) fn of(width: usize) -> Self {
        Self {
            values: Vec::new(),
            width,
            free: Vec::new(),
        }
    }

    pub(super) fn keep(&mut self, row: &[i64]) -> Slot {
        let Some(slot) = self.free.pop() else {
            let slot = Slot((self.values.len() / self.width.max(1)) as u32);
            self.values.extend_from_slice(row);
            return slot;
        };
        let from = slot.0 as usize * self.width;
        self.values[from..from + self.width].copy_from_slice(row);
        slot
    }

    pub(super) fn get(&self, slot: Slot) -> &[i64] {
        let from = slot.0 as usize * self.width;
        &self.values[from..from + self.width]
    }

    pub(super) fn free(&mut self, slot: Slot) {
        self.free.push(slot);
    }
}
