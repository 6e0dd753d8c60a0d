//! Cells as SVG: shapes and text.

use std::fmt::Write;

use ratatui::buffer::Buffer;
use ratatui::style::Modifier;

use crate::theme::TerminalBackground;

use super::cell_colors::{CellColors, DefaultColors, Rgb};
use super::shapes::{Shape, shapes};
use super::{ShownCell, shown_cells};

/// Size of a cell, in pixels.
const WIDE: f64 = 8.0;
const HIGH: f64 = 17.0;

/// Space around the cells.
const MARGIN: f64 = 8.0;

pub(super) fn encode(buffer: &Buffer, ground: TerminalBackground) -> String {
    let defaults = DefaultColors::of(ground);
    let (columns, rows) = (f64::from(buffer.area.width), f64::from(buffer.area.height));
    let (wide, high) = (columns * WIDE + 2.0 * MARGIN, rows * HIGH + 2.0 * MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" \
         viewBox=\"-8 -8 {wide} {high}\">\n<style>text{{font:13px 'DejaVu Sans Mono',Menlo,\
         Consolas,monospace;white-space:pre}}</style>\n"
    );
    let _ = writeln!(
        out,
        r#"<rect x="-8" y="-8" width="{wide}" height="{high}" rx="6" fill="{}"/>"#,
        hex(defaults.ground)
    );
    for y in 0..buffer.area.height {
        let mut row = SvgRow {
            out: &mut out,
            defaults,
            top: f64::from(y) * HIGH,
        };
        row.grounds(buffer, y);
        row.contents(buffer, y);
    }
    out.push_str("</svg>\n");
    out
}

fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A row of cells.
struct SvgRow<'o> {
    out: &'o mut String,
    defaults: DefaultColors,
    top: f64,
}

/// A run of characters in one style.
struct TextRun {
    text: String,
    x: u16,
    columns: u16,
    ink: Rgb,
    modifier: Modifier,
}

impl SvgRow<'_> {
    /// The grounds, a run of one colour at a time.
    fn grounds(&mut self, buffer: &Buffer, y: u16) {
        let mut x = 0;
        while x < buffer.area.width {
            let ground = |x: u16| CellColors::of(&buffer[(x, y)], self.defaults).ground;
            let (first, color) = (x, ground(x));
            while x < buffer.area.width && ground(x) == color {
                x += 1;
            }
            if let Some(color) = color {
                let area = [
                    f64::from(first) * WIDE,
                    self.top,
                    f64::from(x) * WIDE,
                    self.top + HIGH,
                ];
                self.rectangle(area, color, 1.0);
            }
        }
    }

    /// Shapes cell by cell, and runs of plain text of one style.
    fn contents(&mut self, buffer: &Buffer, y: u16) {
        let mut run: Option<TextRun> = None;
        for shown in shown_cells(buffer, y) {
            let ink = CellColors::of(shown.cell, self.defaults).ink;
            if let Some(shapes) = shapes(shown.cell.symbol()) {
                self.text(run.take());
                for shape in &shapes {
                    self.shape(shape, shown.x, ink);
                }
                continue;
            }
            match &mut run {
                Some(run) if run.continues_with(shown, ink) => {
                    run.text.push_str(shown.cell.symbol());
                    run.columns += shown.columns;
                }
                _ => {
                    let next = TextRun {
                        text: shown.cell.symbol().to_owned(),
                        x: shown.x,
                        columns: shown.columns,
                        ink,
                        modifier: shown.cell.modifier,
                    };
                    self.text(run.replace(next));
                }
            }
        }
        self.text(run);
    }

    fn rectangle(&mut self, [left, top, right, bottom]: [f64; 4], ink: Rgb, share: f64) {
        let _ = write!(
            self.out,
            r#"<rect x="{left:.1}" y="{top:.1}" width="{:.1}" height="{:.1}" fill="{}""#,
            right - left,
            bottom - top,
            hex(ink)
        );
        if share < 1.0 {
            let _ = write!(self.out, r#" fill-opacity="{share}""#);
        }
        self.out.push_str("/>\n");
    }

    fn shape(&mut self, shape: &Shape, x: u16, ink: Rgb) {
        let left = f64::from(x) * WIDE;
        let top = self.top;
        match shape {
            Shape::Rectangle(area) => {
                let area = [
                    left + area[0] * WIDE,
                    top + area[1] * HIGH,
                    left + area[2] * WIDE,
                    top + area[3] * HIGH,
                ];
                self.rectangle(area, ink, 1.0);
            }
            Shape::Shade(share) => {
                self.rectangle([left, top, left + WIDE, top + HIGH], ink, *share);
            }
            Shape::Outline(loops) => {
                self.out.push_str("<path d=\"");
                for points in loops {
                    for (place, (x, y)) in points.iter().enumerate() {
                        let command = if place == 0 { 'M' } else { 'L' };
                        let (x, y) = (left + x * WIDE, top + y * HIGH);
                        let _ = write!(self.out, "{command}{x:.1} {y:.1}");
                    }
                    self.out.push('Z');
                }
                let _ = writeln!(self.out, "\" fill-rule=\"evenodd\" fill=\"{}\"/>", hex(ink));
            }
        }
    }

    /// Each piece of a text in its columns: not all readers keep several blanks.
    fn text(&mut self, run: Option<TextRun>) {
        let Some(run) = run else { return };
        if !is_plain(&run.text) {
            return self.piece(&run.text, (run.x, run.columns), &run);
        }
        let columns = |text: &str| text.chars().count() as u16;
        for (begin, piece) in pieces(&run.text) {
            let place = (run.x + columns(&run.text[..begin]), columns(piece));
            self.piece(piece, place, &run);
        }
    }

    fn piece(&mut self, text: &str, (x, columns): (u16, u16), run: &TextRun) {
        let (left, length) = (f64::from(x) * WIDE, f64::from(columns) * WIDE);
        let base = self.top + HIGH * 0.76;
        let weight = match run.modifier.contains(Modifier::BOLD) {
            true => r#" font-weight="bold""#,
            false => "",
        };
        let _ = writeln!(
            self.out,
            r#"<text x="{left:.1}" y="{base:.1}" textLength="{length:.1}" lengthAdjust="spacingAndGlyphs" fill="{}"{weight}>{}</text>"#,
            hex(run.ink),
            escaped(text)
        );
    }
}

/// The parts of a text between two or more blanks, with the places where they begin.
fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let blank = text[from..].len() - text[from..].trim_start().len();
        let begin = from + blank;
        let rest = text.get(begin..).filter(|rest| !rest.is_empty())?;
        let end = rest.find("  ").unwrap_or(rest.trim_end().len());
        from = begin + end;
        Some((begin, &rest[..end]))
    })
}

impl TextRun {
    /// Whether a cell belongs to the same run.
    fn continues_with(&self, shown: ShownCell<'_>, ink: Rgb) -> bool {
        let same = (self.ink, self.modifier) == (ink, shown.cell.modifier);
        same && is_plain(&self.text) && is_plain(shown.cell.symbol())
    }
}

/// Whether each character takes one column in any font of a fixed width. Others stand alone.
fn is_plain(text: &str) -> bool {
    text.chars()
        .all(|it| matches!(it, ' '..='~' | '\u{a0}'..='\u{ff}'))
}

/// Text as XML has it. Characters that XML forbids are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(lines: &[&str]) -> String {
        encode(
            &Buffer::with_lines(lines.iter().copied()),
            TerminalBackground::Light,
        )
    }

    #[test]
    fn names_with_markup_are_text() {
        let drawn = drawn(&["<b>&\"x\" ok"]);
        assert!(drawn.contains(">&lt;b&gt;&amp;\"x\" ok</text>"), "{drawn}");
        assert_eq!(escaped("a\u{7}b\u{ffff}"), "a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let drawn = drawn(&["阵a"]);
        assert!(drawn.contains("textLength=\"16.0\""), "{drawn}");
        assert!(drawn.contains("<text x=\"16.0\""), "{drawn}");
    }

    #[test]
    fn blanks_part_a_text() {
        let parts: Vec<_> = pieces("  a b   cd ").collect();
        assert_eq!(parts, [(2, "a b"), (8, "cd")]);
        assert_eq!(pieces("   ").count(), 0);
        let drawn = drawn(&["5 µs   ±2"]);
        assert!(drawn.contains(">5 µs</text>"), "{drawn}");
        assert!(drawn.contains("<text x=\"56.0\""), "{drawn}");
    }

    #[test]
    fn text_keeps_its_place_between_blanks_and_shapes() {
        let drawn = drawn(&["  ab █ c"]);
        assert!(
            drawn.contains("<text x=\"16.0\" y=\"12.9\" textLength=\"16.0\""),
            "{drawn}"
        );
        assert!(drawn.contains("<rect x=\"40.0\" y=\"0.0\" width=\"8.0\" height=\"17.0\""));
        assert!(drawn.contains("<text x=\"56.0\""), "{drawn}");
    }
}
