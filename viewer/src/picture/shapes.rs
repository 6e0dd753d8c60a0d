//! The shapes of symbols that fill cells: blocks, lines of boxes, signs, dots.

/// A shape in a cell. The sides of the cell have the length 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// Left, top, right, bottom.
    Rectangle([f64; 4]),
    /// All of the cell, with this share of the ink.
    Shade(f64),
    /// Closed lines. A point is inside if it is inside of an odd number of them.
    Outline(Vec<Vec<(f64, f64)>>),
}

/// Thickness of lines, as shares of the width and the height of a cell.
const THIN: (f64, f64) = (0.12, 0.06);
const THICK: (f64, f64) = (0.26, 0.13);

/// The shapes of a symbol; `None` if it is text.
pub(super) fn shapes(symbol: &str) -> Option<Vec<Shape>> {
    let mut characters = symbol.chars();
    let (Some(character), None) = (characters.next(), characters.next()) else {
        return None;
    };
    let one = |shape| Some(vec![shape]);
    match character {
        '░' => one(Shape::Shade(0.25)),
        '▒' => one(Shape::Shade(0.5)),
        '█'..='▏' | '▁'..='▇' => one(block(character)?),
        '▚' => Some(vec![
            Shape::Rectangle([0.0, 0.0, 0.5, 0.5]),
            Shape::Rectangle([0.5, 0.5, 1.0, 1.0]),
        ]),
        '─'..='╿' => lines(character),
        '‖' => Some(vec![
            Shape::Rectangle([0.25, 0.0, 0.37, 1.0]),
            Shape::Rectangle([0.63, 0.0, 0.75, 1.0]),
        ]),
        '\u{2800}'..='\u{28ff}' => Some(dots(character as u32 - 0x2800)),
        _ => signs(character),
    }
}

/// Eighths of a cell, from the left or from below.
fn block(character: char) -> Option<Shape> {
    let code = character as u32;
    match code {
        0x2588..=0x258f => Some(Shape::Rectangle([
            0.0,
            0.0,
            f64::from(0x2590 - code) / 8.0,
            1.0,
        ])),
        0x2581..=0x2587 => Some(Shape::Rectangle([
            0.0,
            1.0 - f64::from(code - 0x2580) / 8.0,
            1.0,
            1.0,
        ])),
        _ => None,
    }
}

/// Weights of the lines from the middle of a cell to its sides.
#[derive(Clone, Copy)]
struct LineWeights {
    left: u8,
    right: u8,
    up: u8,
    down: u8,
}

/// The lines of a box.
fn lines(character: char) -> Option<Vec<Shape>> {
    let dashes = |count: u32, thickness: f64| {
        let dash = |place: u32| {
            let from = (f64::from(place) + 0.2) / f64::from(count);
            let to = from + 0.6 / f64::from(count);
            (from, to, thickness)
        };
        (0..count).map(dash).collect::<Vec<_>>()
    };
    let across = |(from, to, high): (f64, f64, f64)| {
        Shape::Rectangle([from, 0.5 - high / 2.0, to, 0.5 + high / 2.0])
    };
    let along = |(from, to, wide): (f64, f64, f64)| {
        Shape::Rectangle([0.5 - wide / 2.0, from, 0.5 + wide / 2.0, to])
    };
    match character {
        '╌' => return Some(dashes(2, THIN.1).into_iter().map(across).collect()),
        '┈' => return Some(dashes(4, THIN.1).into_iter().map(across).collect()),
        '╍' => return Some(dashes(2, THICK.1).into_iter().map(across).collect()),
        '┊' => return Some(dashes(4, THIN.0).into_iter().map(along).collect()),
        '═' => {
            return Some(vec![
                Shape::Rectangle([0.0, 0.38, 1.0, 0.44]),
                Shape::Rectangle([0.0, 0.56, 1.0, 0.62]),
            ]);
        }
        _ => {}
    }
    let [left, right, up, down] = arms(character)?;
    Some(joined(LineWeights {
        left,
        right,
        up,
        down,
    }))
}

/// Weights to the left, to the right, up and down: 1 is thin, 2 is thick.
fn arms(character: char) -> Option<[u8; 4]> {
    Some(match character {
        '─' => [1, 1, 0, 0],
        '━' => [2, 2, 0, 0],
        '│' => [0, 0, 1, 1],
        '┃' => [0, 0, 2, 2],
        '┌' | '╭' => [0, 1, 0, 1],
        '┐' | '╮' => [1, 0, 0, 1],
        '└' | '╰' => [0, 1, 1, 0],
        '┘' | '╯' => [1, 0, 1, 0],
        '├' => [0, 1, 1, 1],
        '┤' => [1, 0, 1, 1],
        '┬' => [1, 1, 0, 1],
        '┴' => [1, 1, 1, 0],
        '┼' => [1, 1, 1, 1],
        '┏' => [0, 2, 0, 2],
        '┓' => [2, 0, 0, 2],
        '┗' => [0, 2, 2, 0],
        '┛' => [2, 0, 2, 0],
        '┣' => [0, 2, 2, 2],
        '┫' => [2, 0, 2, 2],
        '┳' => [2, 2, 0, 2],
        '┻' => [2, 2, 2, 0],
        '╋' => [2, 2, 2, 2],
        '╷' => [0, 0, 0, 1],
        _ => return None,
    })
}

fn joined(arms: LineWeights) -> Vec<Shape> {
    let thickness = |weight: u8| if weight > 1 { THICK } else { THIN };
    // Lines end behind the middle of those that they meet.
    let wide = thickness(arms.up.max(arms.down)).0 / 2.0;
    let high = thickness(arms.left.max(arms.right)).1 / 2.0;
    let mut shapes = Vec::new();
    let mut add = |weight: u8, area: [f64; 4]| {
        if weight > 0 {
            shapes.push(Shape::Rectangle(area));
        }
    };
    let across = |weight| thickness(weight).1 / 2.0;
    let along = |weight| thickness(weight).0 / 2.0;
    let (l, r) = (across(arms.left), across(arms.right));
    let (u, d) = (along(arms.up), along(arms.down));
    add(arms.left, [0.0, 0.5 - l, 0.5 + wide, 0.5 + l]);
    add(arms.right, [0.5 - wide, 0.5 - r, 1.0, 0.5 + r]);
    add(arms.up, [0.5 - u, 0.0, 0.5 + u, 0.5 + high]);
    add(arms.down, [0.5 - d, 0.5 - high, 0.5 + d, 1.0]);
    shapes
}

/// The dots of a braille pattern, column by column.
fn dots(bits: u32) -> Vec<Shape> {
    const PLACES: [(f64, f64); 8] = [
        (0.25, 0.125),
        (0.25, 0.375),
        (0.25, 0.625),
        (0.75, 0.125),
        (0.75, 0.375),
        (0.75, 0.625),
        (0.25, 0.875),
        (0.75, 0.875),
    ];
    let set = (0..).zip(PLACES).filter(|(bit, _)| bits & (1 << bit) != 0);
    let dot = |(_, (x, y)): (u32, (f64, f64))| {
        Shape::Rectangle([x - 0.15, y - 0.075, x + 0.15, y + 0.075])
    };
    set.map(dot).collect()
}

/// Triangles, diamonds, arrows and squares.
fn signs(character: char) -> Option<Vec<Shape>> {
    let outline = |points: &[(f64, f64)]| vec![Shape::Outline(vec![points.to_vec()])];
    // A cell is twice as high as wide.
    let diamond = |size: f64| {
        let (wide, high) = (size, size / 2.0);
        vec![
            (0.5, 0.5 - high),
            (0.5 + wide, 0.5),
            (0.5, 0.5 + high),
            (0.5 - wide, 0.5),
        ]
    };
    let right = |size: f64| {
        let (wide, high) = (size, size / 2.0);
        vec![
            (0.5 - wide, 0.5 - high),
            (0.5 + wide, 0.5),
            (0.5 - wide, 0.5 + high),
        ]
    };
    Some(match character {
        '►' | '▶' => outline(&right(0.48)),
        '▸' => outline(&right(0.36)),
        '▹' => vec![Shape::Outline(vec![right(0.38), right(0.2)])],
        '◄' => outline(&[(0.98, 0.26), (0.02, 0.5), (0.98, 0.74)]),
        '▲' => outline(&[(0.5, 0.26), (0.98, 0.74), (0.02, 0.74)]),
        '▼' => outline(&[(0.02, 0.26), (0.98, 0.26), (0.5, 0.74)]),
        '◆' => outline(&diamond(0.46)),
        '◇' => vec![Shape::Outline(vec![diamond(0.46), diamond(0.28)])],
        '❖' => vec![Shape::Outline(vec![diamond(0.5), diamond(0.18)])],
        '■' => vec![Shape::Rectangle([0.05, 0.28, 0.95, 0.72])],
        '▪' => vec![Shape::Rectangle([0.25, 0.38, 0.75, 0.62])],
        '●' => vec![Shape::Outline(vec![circle(0.42)])],
        '→' | '⇒' => outline(&arrow()),
        '←' => outline(&arrow().map(|(x, y)| (1.0 - x, y))),
        '↓' => outline(&arrow().map(upright)),
        '↑' => outline(&arrow().map(upright).map(|(x, y)| (x, 1.0 - y))),
        '…' => vec![
            Shape::Rectangle([0.1, 0.7, 0.24, 0.77]),
            Shape::Rectangle([0.43, 0.7, 0.57, 0.77]),
            Shape::Rectangle([0.76, 0.7, 0.9, 0.77]),
        ],
        _ => return None,
    })
}

/// An arrow to the right.
fn arrow() -> [(f64, f64); 7] {
    [
        (0.02, 0.47),
        (0.55, 0.47),
        (0.55, 0.36),
        (0.98, 0.5),
        (0.55, 0.64),
        (0.55, 0.53),
        (0.02, 0.53),
    ]
}

/// Turns a point of an arrow to the right into one of an arrow down.
fn upright((x, y): (f64, f64)) -> (f64, f64) {
    (0.5 + (y - 0.5) * 2.0, 0.5 + (x - 0.5) * 0.6)
}

fn circle(size: f64) -> Vec<(f64, f64)> {
    let point = |step: i32| {
        let angle = f64::from(step) * std::f64::consts::TAU / 24.0;
        (0.5 + size * angle.cos(), 0.5 + size / 2.0 * angle.sin())
    };
    (0..24).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_fill_their_share() {
        let area = |symbol: &str| match shapes(symbol).unwrap().as_slice() {
            [Shape::Rectangle([left, top, right, bottom])] => (right - left) * (bottom - top),
            other => panic!("{other:?}"),
        };
        for (place, symbol) in (1..).zip(["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"]) {
            assert!((area(symbol) - f64::from(place) / 8.0).abs() < 1e-9);
        }
        for (place, symbol) in (1..).zip(["▁", "▂", "▃", "▄", "▅", "▆", "▇"]) {
            assert!((area(symbol) - f64::from(place) / 8.0).abs() < 1e-9);
        }
    }

    #[test]
    fn lines_reach_the_sides_to_which_they_lead() {
        for (symbol, sides) in [
            ("─", "lr"),
            ("┌", "rd"),
            ("╋", "lrud"),
            ("╷", "d"),
            ("┴", "lru"),
        ] {
            let drawn = shapes(symbol).unwrap();
            let reaches = |side: char| {
                drawn.iter().any(|shape| match (shape, side) {
                    (Shape::Rectangle(area), 'l') => area[0] == 0.0,
                    (Shape::Rectangle(area), 'u') => area[1] == 0.0,
                    (Shape::Rectangle(area), 'r') => area[2] == 1.0,
                    (Shape::Rectangle(area), _) => area[3] == 1.0,
                    _ => false,
                })
            };
            for side in "lrud".chars() {
                assert_eq!(reaches(side), sides.contains(side), "{symbol} {side}");
            }
        }
    }

    #[test]
    fn letters_and_pairs_of_characters_are_text() {
        assert_eq!(shapes("a"), None);
        assert_eq!(shapes("±"), None);
        assert_eq!(shapes("─e"), None);
        assert_eq!(shapes(""), None);
    }
}
