//! Where the calls and tasks are that are in memory at a time.

/// Facts about calls or tasks, by their ids in a window. Ids change from window to window, numbers do
/// not.
#[derive(Debug)]
pub(super) struct Located<P> {
    numbers: Vec<u32>,
    known: Vec<Option<P>>,
}

impl<P> Default for Located<P> {
    fn default() -> Self {
        let (numbers, known) = (Vec::new(), Vec::new());
        Self { numbers, known }
    }
}

impl<P: Copy> Located<P> {
    /// Moves to another window, which has these numbers. Facts about other numbers are dropped.
    pub(super) fn renew(&mut self, numbers: impl Iterator<Item = u32>) {
        let numbers: Vec<u32> = numbers.collect();
        let mut before = self.numbers.iter().zip(&self.known).peekable();
        let known = numbers.iter().map(|number| {
            while before.next_if(|it| it.0 < number).is_some() {}
            *before.next_if(|it| it.0 == number)?.1
        });
        self.known = known.collect();
        self.numbers = numbers;
    }

    pub(super) fn get(&self, id: usize) -> Option<P> {
        self.known.get(id).copied().flatten()
    }

    pub(super) fn set(&mut self, id: usize, place: P) {
        if let Some(known) = self.known.get_mut(id) {
            *known = Some(place);
        }
    }

    /// By number.
    pub(super) fn find(&self, number: u32) -> Option<P> {
        let id = self.numbers.binary_search(&number).ok()?;
        self.get(id)
    }

    pub(super) fn has(&self, number: u32) -> bool {
        self.numbers.binary_search(&number).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_of_a_window_is_known() {
        let mut located = Located::default();
        located.renew([0, 1, 2, 3].into_iter());
        located.set(1, 'b');
        located.set(3, 'd');
        located.renew([1, 2, 3, 4].into_iter());
        let known: Vec<Option<char>> = (0..5).map(|id| located.get(id)).collect();
        assert_eq!(known, [Some('b'), None, Some('d'), None, None]);
        located.renew([3, 7].into_iter());
        assert_eq!((located.find(3), located.find(1)), (Some('d'), None));
        assert!(located.has(7) && !located.has(1));
    }
}
