//! Which lanes certainly belong to which branches of graphs, when every lane belongs to one that it may be of.

/// Lanes, and the classes of alike branches that each may be of.
#[derive(Debug, Default)]
pub(super) struct LaneMatching {
    /// How many branches a class has.
    sizes: Vec<usize>,
    /// By lane: the classes it may be of; and whether it has to be of one of these.
    lanes: Vec<(Vec<usize>, bool)>,
}

impl LaneMatching {
    pub(super) fn add_class(&mut self, size: usize) -> usize {
        self.sizes.push(size);
        self.sizes.len() - 1
    }

    pub(super) fn add_lane(&mut self, classes: Vec<usize>, must_be: bool) -> usize {
        self.lanes.push((classes, must_be));
        self.lanes.len() - 1
    }

    /// Whether no other way of giving each lane a branch leaves this lane out of this class.
    pub(super) fn is_forced(&self, lane: usize, class: usize) -> bool {
        !self.is_possible_without((lane, class))
    }

    /// Whether each lane that has to be of a class can be of one.
    pub(super) fn is_explained(&self) -> bool {
        self.is_possible_without((usize::MAX, usize::MAX))
    }

    /// Gives one lane after the other a branch; those that have one move over where they can.
    fn is_possible_without(&self, banned: (usize, usize)) -> bool {
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); self.sizes.len()];
        let needy = (0..self.lanes.len()).filter(|lane| self.must_be(*lane));
        let mut needy = needy.collect::<Vec<_>>().into_iter();
        needy.all(|lane| {
            let mut seen = vec![false; self.sizes.len()];
            self.settle(lane, banned, &mut members, &mut seen)
        })
    }

    fn must_be(&self, lane: usize) -> bool {
        self.lanes.get(lane).is_some_and(|(_, must_be)| *must_be)
    }

    fn settle(
        &self,
        lane: usize,
        banned: (usize, usize),
        members: &mut [Vec<usize>],
        seen: &mut [bool],
    ) -> bool {
        let classes = self.lanes.get(lane).map_or(&[][..], |(classes, _)| classes);
        for class in classes
            .iter()
            .copied()
            .filter(|class| (lane, *class) != banned)
        {
            let Some(is_seen) = seen.get_mut(class) else {
                continue;
            };
            if std::mem::replace(is_seen, true) {
                continue;
            }
            let size = self.sizes.get(class).copied().unwrap_or(0);
            let count = members.get(class).map_or(0, Vec::len);
            if count < size {
                members
                    .get_mut(class)
                    .into_iter()
                    .for_each(|all| all.push(lane));
                return true;
            }
            for place in 0..count {
                let Some(other) = members.get(class).and_then(|all| all.get(place)).copied() else {
                    continue;
                };
                if self.settle(other, banned, members, seen) {
                    let own = members.get_mut(class).and_then(|all| all.get_mut(place));
                    own.into_iter().for_each(|own| *own = lane);
                    return true;
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_forced_where_the_others_need_theirs() {
        let mut all = LaneMatching::default();
        let [short, long] = [1, 1].map(|size| all.add_class(size));
        let one = all.add_lane(vec![short, long], true);
        assert!(!all.is_forced(one, short));
        // Only the long one could run this.
        let other = all.add_lane(vec![long], true);
        assert!(all.is_forced(one, short) && all.is_forced(other, long));
    }

    #[test]
    fn a_class_of_several_has_room_for_several() {
        let mut all = LaneMatching::default();
        let [two, rival] = [2, 1].map(|size| all.add_class(size));
        let lanes = [vec![two], vec![two, rival]].map(|classes| all.add_lane(classes, true));
        assert!(all.is_forced(lanes[0], two) && !all.is_forced(lanes[1], two));
        all.add_lane(vec![rival], false);
        assert!(
            !all.is_forced(lanes[1], two),
            "what need not be there takes no room"
        );
        all.add_lane(vec![rival], true);
        assert!(all.is_forced(lanes[1], two));
    }
}
