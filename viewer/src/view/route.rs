//! Routing arrows: out of one line, straight down or up, along, into another line.

/// Directions in which a line leaves a cell.
const UP: u8 = 1;
const DOWN: u8 = 2;
const LEFT: u8 = 4;
const RIGHT: u8 = 8;

/// A cell of an arrow, relative to the area that arrows are drawn in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) x: u16,
    pub(crate) y: u16,
    pub(crate) ink: Ink,
}

/// What an arrow draws in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// A line that leaves in these directions.
    Line(u8),
    Head(&'static str),
}

/// An end of an arrow. It may lie outside of the area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) column: i64,
    pub(crate) line: i64,
}

/// The area that arrows are drawn in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) width: u16,
    pub(crate) height: u16,
    /// There is a free line after every track: arrows run along in it.
    pub(crate) spaced: bool,
}

/// The cells of an arrow.
pub(crate) fn route(field: Field, from: End, to: End) -> Vec<Segment> {
    let mut path = Path {
        field,
        segments: Vec::new(),
    };
    let down = to.line > from.line;
    let step = if down { 1 } else { -1 };
    let along = match (field.spaced, from.line == to.line) {
        (true, true) => to.line + 1,
        (true, false) => to.line - step,
        (false, _) => to.line,
    };
    let into = if down { UP } else { DOWN };
    let mut line = from.line + step;
    while from.line != to.line && line != along {
        path.line(from.column, line, UP | DOWN);
        line += step;
    }
    let head = if down { "▼" } else { "▲" };
    if from.column == to.column {
        path.head(to.column, along, head);
        return path.segments;
    }
    let right = to.column > from.column;
    let toward = if right { RIGHT } else { LEFT };
    let start = if from.line == to.line && field.spaced {
        UP
    } else {
        into
    };
    if from.line != to.line || field.spaced {
        path.line(from.column, along, start | toward);
    }
    let (low, high) = (from.column.min(to.column), from.column.max(to.column));
    let edges = (low + 1).max(0)..high.min(i64::from(field.width));
    for column in edges {
        path.line(column, along, LEFT | RIGHT);
    }
    let sideways = if right { "►" } else { "◄" };
    let last = i64::from(field.width) - 1;
    match (0..=last).contains(&to.column) {
        true => path.head(to.column, along, if field.spaced { head } else { sideways }),
        false => path.head(to.column.clamp(0, last), along, sideways),
    }
    path.segments
}

struct Path {
    field: Field,
    segments: Vec<Segment>,
}

impl Path {
    fn push(&mut self, column: i64, line: i64, ink: Ink) {
        let (Ok(x), Ok(y)) = (u16::try_from(column), u16::try_from(line)) else {
            return;
        };
        if x < self.field.width && y < self.field.height {
            self.segments.push(Segment { x, y, ink });
        }
    }

    fn line(&mut self, column: i64, line: i64, directions: u8) {
        self.push(column, line, Ink::Line(directions));
    }

    fn head(&mut self, column: i64, line: i64, symbol: &'static str) {
        self.push(column, line, Ink::Head(symbol));
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

    fn drawn(field: Field, from: (i64, i64), to: (i64, i64)) -> Vec<String> {
        let end = |(column, line)| End { column, line };
        let mut lines = vec![vec![" "; usize::from(field.width)]; usize::from(field.height)];
        for segment in route(field, end(from), end(to)) {
            lines[usize::from(segment.y)][usize::from(segment.x)] = match segment.ink {
                Ink::Line(directions) => glyph(directions, false),
                Ink::Head(symbol) => symbol,
            };
        }
        let lines = lines.iter().map(|line| line.concat().trim_end().to_owned());
        lines.collect()
    }

    const SPACED: Field = Field {
        width: 8,
        height: 5,
        spaced: true,
    };
    const DENSE: Field = Field {
        width: 8,
        height: 5,
        spaced: false,
    };

    #[test]
    fn an_arrow_goes_straight_to_what_lies_below() {
        assert_eq!(drawn(SPACED, (2, 0), (2, 4)), ["", "  │", "  │", "  ▼", ""]);
        assert_eq!(drawn(SPACED, (2, 0), (2, 2)), ["", "  ▼", "", "", ""]);
        assert_eq!(drawn(DENSE, (2, 0), (2, 2)), ["", "  │", "  ▼", "", ""]);
    }

    #[test]
    fn an_arrow_turns_once_beside_the_lane_it_points_at() {
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

    proptest! {
        #[test]
        fn arrows_stay_in_their_field(
            width in 1..200_u16, height in 1..60_u16, spaced: bool,
            a in -300..300_i64, b in -100..100_i64, c in -300..300_i64, d in -100..100_i64,
        ) {
            let field = Field { width, height, spaced };
            let path = route(field, End { column: a, line: b }, End { column: c, line: d });
            for it in &path {
                prop_assert!(it.x < width && it.y < height);
            }
            let heads = path.iter().filter(|it| matches!(it.ink, Ink::Head(_)));
            prop_assert!(heads.count() <= 1);
        }
    }
}
