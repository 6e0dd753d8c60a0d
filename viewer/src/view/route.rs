//! Routing arrows: out of one line, straight down or up, along, into another line.

/// Directions in which a line leaves a cell.
const UP: u8 = 1;
const DOWN: u8 = 2;
const LEFT: u8 = 4;
const RIGHT: u8 = 8;

/// A cell of an arrow, relative to the area that arrows are drawn in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrowCell {
    pub(crate) x: u16,
    pub(crate) y: u16,
    pub(crate) ink: CellInk,
}

/// Content of a cell that an arrow crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellInk {
    /// A line that leaves in these directions.
    Line(u8),
    Head(&'static str),
}

/// An end of an arrow: a column of a lane, which has one line or more. It may lie outside of the area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrowEnd {
    pub(crate) column: i64,
    /// The lane's first and last line.
    pub(crate) top: i64,
    pub(crate) bottom: i64,
}

impl ArrowEnd {
    /// The line of the lane that a line going by `step` leaves from.
    fn leaving(self, step: i64) -> i64 {
        if step > 0 { self.bottom } else { self.top }
    }

    /// The line of the lane that a line going by `step` comes to.
    fn reached(self, step: i64) -> i64 {
        self.leaving(-step)
    }
}

/// The area that arrows are drawn in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrowArea<'a> {
    pub(crate) width: u16,
    pub(crate) height: u16,
    /// Lines in which nothing else is: arrows run along in them, and end there.
    pub(crate) free: &'a [i64],
}

impl ArrowArea<'_> {
    fn is_free(&self, line: i64) -> bool {
        self.free.contains(&line)
    }

    /// Where an arrow ends that comes to a lane by `step`: in the free line before it, else in the lane itself.
    fn arrival(&self, to: ArrowEnd, step: i64) -> i64 {
        let own = to.reached(step);
        if self.is_free(own - step) {
            own - step
        } else {
            own
        }
    }

    /// Where an arrow turns that leaves a lane by `step`.
    fn departure(&self, from: ArrowEnd, step: i64) -> i64 {
        let own = from.leaving(step);
        if self.is_free(own + step) {
            own + step
        } else {
            own
        }
    }
}

/// The line of an arrow: next to its target lane, next to its source lane, or in a free line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrowTurn {
    AtTarget,
    AtSource,
    In(i64),
}

/// The cells of an arrow.
pub(crate) fn route(
    field: ArrowArea<'_>,
    from: ArrowEnd,
    to: ArrowEnd,
    turn: ArrowTurn,
) -> Vec<ArrowCell> {
    let mut path = ArrowPath {
        field,
        segments: Vec::new(),
    };
    match turn {
        ArrowTurn::In(line) => path.turning_in(line, from, to),
        _ if from.top == to.top => path.within_lane(from, to),
        ArrowTurn::AtSource if from.column != to.column => path.turning_at_source(from, to),
        ArrowTurn::AtTarget | ArrowTurn::AtSource => path.turning_at_target(from, to),
    }
    path.segments
}

struct ArrowPath<'a> {
    field: ArrowArea<'a>,
    segments: Vec<ArrowCell>,
}

impl ArrowPath<'_> {
    fn within_lane(&mut self, from: ArrowEnd, to: ArrowEnd) {
        let along = self.field.departure(from, 1);
        let is_free = along != from.bottom;
        if is_free {
            self.line(from.column, along, UP | toward(from, to));
        }
        self.across(from, to, along);
        let symbol = if is_free { "▲" } else { sideways(from, to) };
        self.arrive(from, to, along, symbol);
    }

    fn turning_at_target(&mut self, from: ArrowEnd, to: ArrowEnd) {
        let step = (to.top - from.top).signum();
        let along = self.field.arrival(to, step);
        self.down(from.column, from.leaving(step) + step, along, step);
        if from.column != to.column {
            self.line(from.column, along, back(step) | toward(from, to));
            self.across(from, to, along);
        }
        let straight = along != to.reached(step) || from.column == to.column;
        let symbol = if straight {
            onward(step)
        } else {
            sideways(from, to)
        };
        self.arrive(from, to, along, symbol);
    }

    fn turning_at_source(&mut self, from: ArrowEnd, to: ArrowEnd) {
        let step = (to.top - from.top).signum();
        let along = self.field.departure(from, step);
        let end = self.field.arrival(to, step);
        if along == end {
            return self.turning_at_target(from, to);
        }
        if along != from.leaving(step) {
            self.line(from.column, along, back(step) | toward(from, to));
        }
        self.across(from, to, along);
        self.line(to.column, along, toward(to, from) | back(-step));
        self.down(to.column, along + step, end, step);
        self.arrive(from, to, end, onward(step));
    }

    /// To a free line, along in it, and from there to the lane.
    fn turning_in(&mut self, along: i64, from: ArrowEnd, to: ArrowEnd) {
        let there = (along - from.top).signum();
        let onto = (to.top - along).signum();
        let end = self.field.arrival(to, onto);
        if end == along {
            return self.turning_at_target(from, to);
        }
        self.down(from.column, from.leaving(there) + there, along, there);
        self.line(from.column, along, back(there) | toward(from, to));
        self.across(from, to, along);
        self.line(to.column, along, toward(to, from) | back(-onto));
        self.down(to.column, along + onto, end, onto);
        self.arrive(from, to, end, onward(onto));
    }

    /// A vertical line from `line` up to, but not on, `end`.
    fn down(&mut self, column: i64, mut line: i64, end: i64, step: i64) {
        while (end - line) * step > 0 {
            self.line(column, line, UP | DOWN);
            line += step;
        }
    }

    /// A horizontal line between two columns, without its ends.
    fn across(&mut self, from: ArrowEnd, to: ArrowEnd, line: i64) {
        let (low, high) = (from.column.min(to.column), from.column.max(to.column));
        for column in (low + 1).max(0)..high.min(i64::from(self.field.width)) {
            self.line(column, line, LEFT | RIGHT);
        }
    }

    /// The head; at the edge when the arrow goes on out of sight.
    fn arrive(&mut self, from: ArrowEnd, to: ArrowEnd, line: i64, symbol: &'static str) {
        let last = i64::from(self.field.width) - 1;
        match (0..=last).contains(&to.column) {
            true => self.head(to.column, line, symbol),
            false => self.head(to.column.clamp(0, last), line, sideways(from, to)),
        }
    }

    fn push(&mut self, column: i64, line: i64, ink: CellInk) {
        let (Ok(x), Ok(y)) = (u16::try_from(column), u16::try_from(line)) else {
            return;
        };
        if x < self.field.width && y < self.field.height {
            self.segments.push(ArrowCell { x, y, ink });
        }
    }

    fn line(&mut self, column: i64, line: i64, directions: u8) {
        self.push(column, line, CellInk::Line(directions));
    }

    fn head(&mut self, column: i64, line: i64, symbol: &'static str) {
        self.push(column, line, CellInk::Head(symbol));
    }
}

fn toward(from: ArrowEnd, to: ArrowEnd) -> u8 {
    if to.column > from.column { RIGHT } else { LEFT }
}

/// The direction that a line going by `step` comes from.
fn back(step: i64) -> u8 {
    if step > 0 { UP } else { DOWN }
}

fn onward(step: i64) -> &'static str {
    if step > 0 { "▼" } else { "▲" }
}

fn sideways(from: ArrowEnd, to: ArrowEnd) -> &'static str {
    if to.column > from.column {
        "►"
    } else {
        "◄"
    }
}

/// The character for a line that leaves in these directions, thin or bold.
pub(crate) fn glyph(directions: u8, bold: bool) -> &'static str {
    let (thin, thick) = match directions & (UP | DOWN | LEFT | RIGHT) {
        0b0001..=0b0011 => ("│", "┃"),
        0b0100 | 0b1000 | 0b1100 => ("─", "━"),
        0b1010 => ("┌", "┏"),
        0b0110 => ("┐", "┓"),
        0b1001 => ("└", "┗"),
        0b0101 => ("┘", "┛"),
        0b1011 => ("├", "┣"),
        0b0111 => ("┤", "┫"),
        0b1110 => ("┬", "┳"),
        0b1101 => ("┴", "┻"),
        0b1111 => ("┼", "╋"),
        _ => (" ", " "),
    };
    if bold { thick } else { thin }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn drawn(field: ArrowArea<'_>, from: (i64, i64), to: (i64, i64)) -> Vec<String> {
        turned(field, from, to, ArrowTurn::AtTarget)
    }

    fn turned(
        field: ArrowArea<'_>,
        from: (i64, i64),
        to: (i64, i64),
        turn: ArrowTurn,
    ) -> Vec<String> {
        let end = |(column, line)| ArrowEnd {
            column,
            top: line,
            bottom: line,
        };
        let mut lines = vec![vec![" "; usize::from(field.width)]; usize::from(field.height)];
        for segment in route(field, end(from), end(to), turn) {
            lines[usize::from(segment.y)][usize::from(segment.x)] = match segment.ink {
                CellInk::Line(directions) => glyph(directions, false),
                CellInk::Head(symbol) => symbol,
            };
        }
        let lines = lines.iter().map(|line| line.concat().trim_end().to_owned());
        lines.collect()
    }

    const SPACED: ArrowArea<'_> = ArrowArea {
        width: 8,
        height: 5,
        free: &[1, 3],
    };
    const DENSE: ArrowArea<'_> = ArrowArea {
        width: 8,
        height: 5,
        free: &[],
    };

    #[test]
    fn an_arrow_goes_straight_to_an_end_below() {
        assert_eq!(drawn(SPACED, (2, 0), (2, 4)), ["", "  │", "  │", "  ▼", ""]);
        assert_eq!(drawn(SPACED, (2, 0), (2, 2)), ["", "  ▼", "", "", ""]);
        assert_eq!(drawn(DENSE, (2, 0), (2, 2)), ["", "  │", "  ▼", "", ""]);
    }

    #[test]
    fn an_arrow_turns_once_next_to_its_target_lane() {
        assert_eq!(
            drawn(SPACED, (1, 0), (5, 4)),
            ["", " │", " │", " └───▼", ""]
        );
        assert_eq!(
            drawn(SPACED, (1, 4), (5, 0)),
            ["", " ┌───▲", " │", " │", ""]
        );
        assert_eq!(
            drawn(SPACED, (5, 0), (1, 4)),
            ["", "     │", "     │", " ▼───┘", ""]
        );
        assert_eq!(drawn(DENSE, (1, 0), (5, 2)), ["", " │", " └───►", "", ""]);
    }

    #[test]
    fn an_arrow_can_turn_next_to_its_source_lane() {
        let turned = |field, from, to| turned(field, from, to, ArrowTurn::AtSource);
        assert_eq!(
            turned(SPACED, (1, 0), (5, 4)),
            ["", " └───┐", "     │", "     ▼", ""]
        );
        assert_eq!(
            turned(DENSE, (1, 3), (5, 1)),
            ["", "     ▲", "     │", "  ───┘", ""]
        );
        assert_eq!(turned(SPACED, (1, 0), (5, 2)), ["", " └───▼", "", "", ""]);
    }

    #[test]
    fn an_end_that_is_out_of_sight_leaves_at_the_edge() {
        assert_eq!(drawn(SPACED, (-9, 0), (3, 4)), ["", "", "", "───▼", ""]);
        assert_eq!(
            drawn(SPACED, (3, 0), (90, 4)),
            ["", "   │", "   │", "   └───►", ""]
        );
        assert_eq!(drawn(SPACED, (3, -4), (3, 2)), ["   │", "   ▼", "", "", ""]);
    }

    #[test]
    fn an_arrow_within_one_lane_runs_below_it() {
        assert_eq!(drawn(SPACED, (1, 0), (5, 0)), ["", " └───▲", "", "", ""]);
        assert_eq!(drawn(DENSE, (1, 0), (5, 0)), ["  ───►", "", "", "", ""]);
    }

    #[test]
    fn an_arrow_can_run_along_in_a_line_that_is_free() {
        let turned = |from, to, line| turned(DENSE, from, to, ArrowTurn::In(line));
        assert_eq!(
            turned((1, 0), (5, 4), 2),
            ["", " │", " └───┐", "     │", "     ▼"]
        );
        assert_eq!(
            turned((5, 1), (1, 3), 0),
            [" ┌───┐", " │   │", " │", " ▼", ""].map(|line| line.replace(" │   │", " │"))
        );
        assert_eq!(
            turned((1, 3), (5, 1), 4).concat(),
            "     ▲     │     │ └───┘"
        );
    }

    #[test]
    fn lanes_of_two_lines_are_left_and_reached_at_the_near_one() {
        let field = ArrowArea {
            height: 7,
            free: &[2, 4],
            ..SPACED
        };
        let lane = |column, top| ArrowEnd {
            column,
            top,
            bottom: top + 1,
        };
        let path = route(field, lane(1, 0), lane(4, 5), ArrowTurn::AtTarget);
        let places: Vec<_> = path.iter().map(|it| (it.x, it.y)).collect();
        assert_eq!(places, [(1, 2), (1, 3), (1, 4), (2, 4), (3, 4), (4, 4)]);
        let path = route(field, lane(1, 5), lane(4, 0), ArrowTurn::AtTarget);
        let places: Vec<_> = path.iter().map(|it| (it.x, it.y)).collect();
        assert_eq!(places, [(1, 4), (1, 3), (1, 2), (2, 2), (3, 2), (4, 2)]);
    }

    #[test]
    fn next_to_a_used_line_an_arrow_ends_in_its_lane() {
        let field = ArrowArea {
            free: &[1],
            ..SPACED
        };
        // Below the first lane is a free line, then one that is not, then the other lane.
        let wanted = ["", " └───┐", "     │", "     ▼", ""];
        assert_eq!(turned(field, (1, 0), (5, 3), ArrowTurn::AtSource), wanted);
        // From there upwards the free line is the last one.
        assert_eq!(
            turned(field, (5, 3), (1, 0), ArrowTurn::AtTarget),
            ["", " ▲───┐", "     │", "", ""]
        );
    }

    proptest! {
        #[test]
        fn arrows_stay_in_their_field(
            width in 1..200_u16, height in 1..60_u16, spaced: bool, turn in 0..3_usize, line in 0..60_i64,
            a in -300..300_i64, b in -100..100_i64, c in -300..300_i64, d in -100..100_i64,
        ) {
            let free: Vec<i64> = (-100..100).filter(|line| spaced && line % 3 == 2).collect();
            let field = ArrowArea { width, height, free: &free };
            let turn = [ArrowTurn::AtSource, ArrowTurn::AtTarget, ArrowTurn::In(line)][turn];
            let end = |column, top| ArrowEnd { column, top, bottom: top + i64::from(spaced) };
            let (from, to) = (end(a, b), end(c, d));
            let path = route(field, from, to, turn);
            for it in &path {
                prop_assert!(it.x < width && it.y < height);
            }
            let heads = path.iter().filter(|it| matches!(it.ink, CellInk::Head(_)));
            prop_assert!(heads.count() <= 1);
        }
    }
}
