//! When things happen that wait for each other: a graph of timestamps, of which each is the latest of what it waits for,
//! plus a time that it takes itself.

/// A timestamp of the graph.
pub(super) type Node = u32;

/// A graph on its way.
#[derive(Debug)]
pub(super) struct Builder {
    /// To, from, and how long after.
    waits: Vec<(Node, Node, i64)>,
    takes: Vec<i64>,
    /// When what waits for nothing happens; also the order in which circles are resolved.
    starts: Vec<i64>,
}

impl Builder {
    pub(super) fn of(nodes: usize) -> Self {
        Self {
            waits: Vec::new(),
            takes: vec![0; nodes],
            starts: vec![0; nodes],
        }
    }

    /// When the node happened in the recording, and what it takes itself.
    pub(super) fn set(&mut self, node: Node, start: i64, takes: i64) {
        self.starts[node as usize] = start;
        self.takes[node as usize] = takes;
    }

    /// It happens no earlier than so long after another.
    pub(super) fn wait(&mut self, node: Node, from: Node, lag: i64) {
        self.waits.push((node, from, lag));
    }

    /// When each node happens, and how many waits had to be left out since they form a circle.
    pub(super) fn solve(mut self) -> (Vec<i64>, u64) {
        self.waits.sort_unstable_by_key(|it| (it.0, it.1));
        let nodes = self.takes.len();
        let rows = rows(nodes, self.waits.iter().map(|it| it.0));
        let followers = followers(nodes, &self.waits);
        let mut open: Vec<u32> = rows.windows(2).map(|it| (it[1] - it[0]) as u32).collect();
        let mut ready: Vec<Node> = (0..nodes as Node)
            .filter(|it| open[*it as usize] == 0)
            .collect();
        let mut values: Vec<Option<i64>> = vec![None; nodes];
        let (mut done, mut left_out) = (0, 0);
        let mut order: Option<std::vec::IntoIter<Node>> = None;
        while done < nodes {
            let Some(node) = ready.pop() else {
                // A circle: what was first in the recording goes on with what is known.
                let order = order.get_or_insert_with(|| by_start(&self.starts));
                let Some(node) = order.find(|it| values[*it as usize].is_none()) else {
                    break;
                };
                left_out += u64::from(open[node as usize]);
                open[node as usize] = 0;
                ready.push(node);
                continue;
            };
            let at = node as usize;
            if values[at].is_some() {
                continue;
            }
            let waits = &self.waits[rows[at]..rows[at + 1]];
            let known = waits
                .iter()
                .filter_map(|it| Some(values[it.1 as usize]? + it.2));
            let begin = known.max().unwrap_or(self.starts[at]);
            let takes = self.takes[at];
            values[at] = Some(begin + takes);
            done += 1;
            for next in &followers.1[followers.0[at]..followers.0[at + 1]] {
                let open = &mut open[*next as usize];
                *open = open.saturating_sub(1);
                if *open == 0 {
                    ready.push(*next);
                }
            }
        }
        (
            values.into_iter().map(Option::unwrap_or_default).collect(),
            left_out,
        )
    }
}

fn by_start(starts: &[i64]) -> std::vec::IntoIter<Node> {
    let mut order: Vec<Node> = (0..starts.len() as Node).collect();
    order.sort_by_key(|it| starts[*it as usize]);
    order.into_iter()
}

/// Where each node's rows begin, and where the last ends.
fn rows(nodes: usize, sorted: impl Iterator<Item = Node>) -> Vec<usize> {
    let mut rows = vec![0; nodes + 1];
    sorted.for_each(|it| rows[it as usize + 1] += 1);
    for at in 0..nodes {
        rows[at + 1] += rows[at];
    }
    rows
}

/// What waits for each node.
fn followers(nodes: usize, waits: &[(Node, Node, i64)]) -> (Vec<usize>, Vec<Node>) {
    let rows = rows(nodes, waits.iter().map(|it| it.1));
    let mut next = rows.clone();
    let mut all = vec![0; waits.len()];
    for (to, from, _) in waits {
        let place = &mut next[*from as usize];
        all[*place] = *to;
        *place += 1;
    }
    (rows, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_waits_for_the_latest() {
        let mut graph = Builder::of(4);
        graph.set(0, 5, 10);
        graph.set(1, 100, 0);
        graph.set(3, 999, 1);
        graph.wait(2, 0, 7);
        graph.wait(2, 1, -80);
        graph.wait(3, 2, 0);
        graph.wait(3, 1, 2);
        assert_eq!(graph.solve(), (vec![15, 100, 22, 103], 0));
    }

    #[test]
    fn a_circle_is_opened_where_it_began_first() {
        let mut graph = Builder::of(3);
        [10, 20, 30]
            .into_iter()
            .zip(0..)
            .for_each(|(it, node)| graph.set(node, it, 1));
        graph.wait(0, 2, 0);
        graph.wait(1, 0, 5);
        graph.wait(2, 1, 5);
        assert_eq!(graph.solve(), (vec![11, 17, 23], 1));
    }
}
