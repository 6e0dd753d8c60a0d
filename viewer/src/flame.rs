//! The flame graph of a host thread: its state and its layout.

use ascend_trace_analysis::calls::{CallTree, Frame};
use ascend_trace_recording::{ThreadId, Trace};

use crate::list::ListInputs;

/// Least width of the box under the cursor. Outer nodes are left out to reach it.
const WIDE: u32 = 12;

/// The view of a thread.
#[derive(Clone, Debug)]
pub(crate) struct FlameGraph {
    pub(crate) thread: ThreadId,
    pub(crate) tree: CallTree,
    /// The node that the cursor is on.
    pub(crate) cursor: usize,
    /// Whether all of the window is in the tree.
    pub(crate) is_whole: bool,
    pub(crate) basis: ListInputs,
}

/// A node on screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlameBox {
    pub(crate) node: usize,
    pub(crate) level: u16,
    pub(crate) x: u16,
    pub(crate) width: u16,
}

impl FlameGraph {
    /// Replaces the tree. The cursor stays on the node with the same path.
    pub(crate) fn renew(&mut self, tree: CallTree, is_whole: bool) {
        let path = self.tree.path(self.cursor).into_iter().skip(1);
        let path: Vec<Frame> = path
            .map(|place| self.tree.nodes()[place].frame.clone())
            .collect();
        self.cursor = tree.find(&path);
        self.tree = tree;
        self.is_whole = is_whole;
    }

    /// Moves to the child with the most time.
    pub(crate) fn descend(&mut self) {
        let node = &self.tree.nodes()[self.cursor];
        self.cursor = node.children.first().copied().unwrap_or(self.cursor);
    }

    /// Moves to the enclosing node.
    pub(crate) fn ascend(&mut self) {
        self.cursor = self.tree.nodes()[self.cursor].parent;
    }

    /// Moves to the next or the previous sibling.
    pub(crate) fn move_to_sibling(&mut self, forward: bool) {
        let nodes = self.tree.nodes();
        let siblings = &nodes[nodes[self.cursor].parent].children;
        let place = siblings.iter().position(|it| *it == self.cursor);
        let next = place.and_then(|it| match forward {
            true => it.checked_add(1),
            false => it.checked_sub(1),
        });
        let next = next.and_then(|it| siblings.get(it));
        self.cursor = next.copied().unwrap_or(self.cursor);
    }

    /// The root of the layout: the thread, or a node around the cursor if the cursor would be too
    /// narrow otherwise.
    fn root(&self, width: u16) -> usize {
        let path = self.tree.path(self.cursor);
        let around = &path[..path.len().saturating_sub(1).max(1)];
        let inside = |place: usize| self.tree.nodes()[place].inside_ns.max(0) as u128;
        let is_wide = |root: &&usize| {
            let cells = inside(self.cursor) * u128::from(width) / self.full(**root).max(1);
            cells >= u128::from(WIDE)
        };
        let wide = around.iter().find(is_wide).or(around.last());
        wide.copied().unwrap_or(0)
    }

    /// The time that the width of a node shows: its time, or that of its children where ranges overlap.
    fn full(&self, place: usize) -> u128 {
        let nodes = self.tree.nodes();
        let children = nodes[place].children.iter();
        let sum: i64 = children.map(|child| nodes[*child].inside_ns).sum();
        sum.max(nodes[place].inside_ns).max(0) as u128
    }

    /// The boxes of a screen of this width, level by level. Nodes narrower than a cell have none,
    /// unless the cursor is on them.
    pub(crate) fn boxes(&self, width: u16) -> Vec<FlameBox> {
        let root = self.root(width);
        let mut boxes = Vec::new();
        for (node, level) in self.tree.path(root).into_iter().zip(0..) {
            boxes.push(FlameBox {
                node,
                level,
                x: 0,
                width,
            });
        }
        let mut next = boxes.len().saturating_sub(1);
        while let Some(around) = boxes.get(next).copied() {
            next += 1;
            self.place_children(around, &mut boxes);
        }
        boxes
    }

    fn place_children(&self, around: FlameBox, boxes: &mut Vec<FlameBox>) {
        let full = self.full(around.node).max(1);
        let cells = |time: u128| (time * u128::from(around.width) / full) as u16;
        let path = self.tree.path(self.cursor);
        let mut time = 0_u128;
        for child in &self.tree.nodes()[around.node].children {
            let begin = cells(time);
            time += self.tree.nodes()[*child].inside_ns.max(0) as u128;
            let least = u16::from(path.contains(child));
            let width = cells(time).saturating_sub(begin).max(least);
            if width > 0 {
                boxes.push(FlameBox {
                    node: *child,
                    level: around.level + 1,
                    x: around.x + begin.min(around.width.saturating_sub(1)),
                    width: width.min(around.width),
                });
            }
        }
    }

    /// The first level on screen, if there is room for this number of levels.
    pub(crate) fn first_level(&self, rows: u16) -> u16 {
        let level = self.tree.path(self.cursor).len() as u16;
        level.saturating_sub(rows)
    }

    /// The name of a node.
    pub(crate) fn name<'a>(&'a self, trace: &'a Trace, place: usize) -> &'a str {
        match &self.tree.nodes()[place].frame {
            Frame::Thread => "all",
            Frame::Range(name) => name,
            Frame::Call(id) => &trace.function(*id).name,
        }
    }
}
