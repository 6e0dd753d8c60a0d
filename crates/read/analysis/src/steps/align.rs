//! Two sequences, element by element: common elements, and elements of one alone.

/// Differences beyond which sequences are matched place by place.
const MOST: usize = 1_024;

/// The places in two sequences that hold the same element, in order; as many as there can be.
pub(crate) fn align<T: PartialEq>(left: &[T], right: &[T]) -> Vec<(usize, usize)> {
    let common = |(left, right): &(&T, &T)| left == right;
    let head = left.iter().zip(right).take_while(common).count();
    let (rest, other) = (&left[head..], &right[head..]);
    let tail = rest.iter().rev().zip(other.iter().rev());
    let tail = tail.take_while(common).count();
    let (middle, other) = (&rest[..rest.len() - tail], &other[..other.len() - tail]);
    let between = shortest(middle, other).unwrap_or_else(|| by_place(middle, other));
    let ends = (0..tail).map(|at| (left.len() - tail + at, right.len() - tail + at));
    let begins = (0..head).map(|at| (at, at));
    let between = between.into_iter().map(|(it, at)| (head + it, head + at));
    begins.chain(between).chain(ends).collect()
}

fn by_place<T: PartialEq>(left: &[T], right: &[T]) -> Vec<(usize, usize)> {
    let pairs = left.iter().zip(right).enumerate();
    let same = pairs.filter(|(_, (left, right))| left == right);
    same.map(|(at, _)| (at, at)).collect()
}

/// The way from one to the other with the fewest insertions and deletions. `front` has for each
/// diagonal the furthest point with that number of them; all fronts are kept to find the way back.
fn shortest<T: PartialEq>(left: &[T], right: &[T]) -> Option<Vec<(usize, usize)>> {
    let (width, height) = (left.len() as isize, right.len() as isize);
    let most = (left.len() + right.len()).min(MOST) as isize;
    let middle = most + 1;
    let mut front = vec![0_isize; 2 * middle as usize + 1];
    let mut fronts: Vec<Vec<isize>> = Vec::new();
    for edits in 0..=most {
        fronts.push(front[(middle - edits - 1) as usize..=(middle + edits + 1) as usize].to_vec());
        for diagonal in (-edits..=edits).step_by(2) {
            let at = |diagonal: isize| front[(middle + diagonal) as usize];
            let is_down =
                diagonal == -edits || diagonal != edits && at(diagonal - 1) < at(diagonal + 1);
            let mut x = match is_down {
                true => at(diagonal + 1),
                false => at(diagonal - 1) + 1,
            };
            while x < width
                && x - diagonal < height
                && left[x as usize] == right[(x - diagonal) as usize]
            {
                x += 1;
            }
            front[(middle + diagonal) as usize] = x;
            if x >= width && x - diagonal >= height {
                return Some(back(&fronts, (width, height)));
            }
        }
    }
    None
}

/// The way back through the fronts.
fn back(fronts: &[Vec<isize>], (mut x, mut y): (isize, isize)) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (edits, front) in fronts.iter().enumerate().rev() {
        let edits = edits as isize;
        let at = |diagonal: isize| front[(edits + 1 + diagonal) as usize];
        let diagonal = x - y;
        let is_down =
            diagonal == -edits || diagonal != edits && at(diagonal - 1) < at(diagonal + 1);
        let before = if is_down { diagonal + 1 } else { diagonal - 1 };
        let (from_x, from_y) = match edits {
            0 => (0, 0),
            _ => (at(before), at(before) - before),
        };
        while x > from_x && y > from_y {
            (x, y) = (x - 1, y - 1);
            pairs.push((x as usize, y as usize));
        }
        (x, y) = (from_x, from_y);
    }
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many as there can be, by the table of all beginnings.
    fn most(left: &[u8], right: &[u8]) -> usize {
        let mut rows = vec![vec![0; right.len() + 1]; left.len() + 1];
        for (at, one) in left.iter().enumerate() {
            for (place, other) in right.iter().enumerate() {
                rows[at + 1][place + 1] = match one == other {
                    true => rows[at][place] + 1,
                    false => rows[at][place + 1].max(rows[at + 1][place]),
                };
            }
        }
        rows[left.len()][right.len()]
    }

    #[test]
    fn as_much_as_can_be_is_matched() {
        let mut seed = 1_u64;
        let mut roll = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..2_000 {
            let mut text = || -> Vec<u8> { (0..roll(12)).map(|_| roll(3) as u8).collect() };
            let (left, right) = (text(), text());
            let pairs = align(&left, &right);
            assert!(pairs.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1));
            assert!(pairs.iter().all(|(at, place)| left[*at] == right[*place]));
            assert_eq!(pairs.len(), most(&left, &right), "{left:?} {right:?}");
        }
    }
}
