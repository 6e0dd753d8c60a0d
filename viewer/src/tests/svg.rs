//! A screen as a picture: cells become rectangles and text.

use std::fmt::Write;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

/// Size of a cell, in pixels.
const WIDE: f64 = 8.0;
const HIGH: f64 = 17.0;

/// Default colours of the terminal.
#[derive(Clone, Copy)]
struct TerminalColors {
    ground: &'static str,
    ink: &'static str,
    /// Dim text.
    dim: &'static str,
}

const DARK: TerminalColors = TerminalColors {
    ground: "#14181f",
    ink: "#d7dbe2",
    dim: "#8a909a",
};
const LIGHT: TerminalColors = TerminalColors {
    ground: "#ffffff",
    ink: "#1c2026",
    dim: "#777d86",
};

fn color(color: Color, other: &str) -> String {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let hex = |[r, g, b]: [u8; 3]| format!("#{r:02x}{g:02x}{b:02x}");
    match color {
        Color::Rgb(r, g, b) => hex([r, g, b]),
        Color::Indexed(grey @ 232..) => hex([8 + 10 * (grey - 232); 3]),
        Color::Indexed(cube @ 16..) => {
            let place = usize::from(cube - 16);
            hex([place / 36, place / 6 % 6, place % 6].map(|level| LEVELS[level]))
        }
        _ => other.to_owned(),
    }
}

/// Foreground and background; no background where the ground shows.
fn colors(cell: &Cell, paper: TerminalColors) -> (String, Option<String>) {
    let plain = match cell.modifier.contains(Modifier::DIM) {
        true => paper.dim,
        false => paper.ink,
    };
    let ink = color(cell.fg, plain);
    let ground = (cell.bg != Color::Reset).then(|| color(cell.bg, paper.ground));
    match cell.modifier.contains(Modifier::REVERSED) {
        true => (ground.unwrap_or_else(|| paper.ground.to_owned()), Some(ink)),
        false => (ink, ground),
    }
}

/// The part of a cell that a block character fills, as left, top, right, bottom.
fn block(symbol: &str) -> Option<(f64, f64, f64, f64)> {
    let eighth = |list: &str| list.chars().position(|it| symbol.starts_with(it));
    if let Some(index) = eighth("▏▎▍▌▋▊▉█") {
        return Some((0.0, 0.0, (index + 1) as f64 / 8.0, 1.0));
    }
    let index = eighth("▁▂▃▄▅▆▇")?;
    Some((0.0, 1.0 - (index + 1) as f64 / 8.0, 1.0, 1.0))
}

fn rectangle(out: &mut String, (x, y, wide, high): (f64, f64, f64, f64), fill: &str) {
    let _ = writeln!(
        out,
        r#"<rect x="{x:.1}" y="{y:.1}" width="{wide:.1}" height="{high:.1}" fill="{fill}"/>"#
    );
}

/// The whole screen on a dark terminal.
pub(super) fn render(buffer: &Buffer) -> String {
    draw(buffer, DARK)
}

/// The same on a light one.
pub(super) fn render_light(buffer: &Buffer) -> String {
    draw(buffer, LIGHT)
}

fn draw(buffer: &Buffer, paper: TerminalColors) -> String {
    let (columns, rows) = (f64::from(buffer.area.width), f64::from(buffer.area.height));
    let (wide, high) = (columns * WIDE + 16.0, rows * HIGH + 16.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" \
         viewBox=\"-8 -8 {wide} {high}\">\n<style>text{{font:13px 'DejaVu Sans Mono',Menlo,\
         Consolas,monospace;white-space:pre}}</style>\n"
    );
    let _ = writeln!(
        out,
        r#"<rect x="-8" y="-8" width="{wide}" height="{high}" rx="6" fill="{}"/>"#,
        paper.ground
    );
    for y in 0..buffer.area.height {
        grounds(buffer, y, paper, &mut out);
        texts(buffer, y, paper, &mut out);
    }
    out.push_str("</svg>\n");
    out
}

/// Backgrounds, a run of one colour at a time.
fn grounds(buffer: &Buffer, y: u16, paper: TerminalColors, out: &mut String) {
    let mut x = 0;
    while x < buffer.area.width {
        let ground = colors(&buffer[(x, y)], paper).1;
        let first = x;
        while x < buffer.area.width && colors(&buffer[(x, y)], paper).1 == ground {
            x += 1;
        }
        if let Some(fill) = ground {
            let area = (
                f64::from(first) * WIDE,
                f64::from(y) * HIGH,
                f64::from(x - first) * WIDE,
                HIGH,
            );
            rectangle(out, area, &fill);
        }
    }
}

/// Runs of plain text of one style together, everything else cell by cell.
fn texts(buffer: &Buffer, y: u16, paper: TerminalColors, out: &mut String) {
    let mut x = 0;
    while x < buffer.area.width {
        let cell = &buffer[(x, y)];
        let (ink, _) = colors(cell, paper);
        let (left, top) = (f64::from(x) * WIDE, f64::from(y) * HIGH);
        let symbol = cell.symbol();
        if let Some(part) = block(symbol) {
            let (from, upper, to, lower) = part;
            let area = (
                left + from * WIDE,
                top + upper * HIGH,
                (to - from) * WIDE,
                (lower - upper) * HIGH,
            );
            rectangle(out, area, &ink);
            x += 1;
            continue;
        }
        if symbol == "░" {
            rectangle(out, (left, top, WIDE, HIGH), &format!("{ink}40"));
            x += 1;
            continue;
        }
        let first = x;
        let mut text = symbol.to_owned();
        x += 1;
        let same = |x: u16| {
            let other = &buffer[(x, y)];
            let style = (other.fg, other.bg, other.modifier);
            style == (cell.fg, cell.bg, cell.modifier) && other.symbol().is_ascii()
        };
        while symbol.is_ascii() && x < buffer.area.width && same(x) {
            text.push_str(buffer[(x, y)].symbol());
            x += 1;
        }
        write_text(out, (left, top), &text, (x - first, &ink, cell.modifier));
    }
}

fn write_text(
    out: &mut String,
    (left, top): (f64, f64),
    text: &str,
    (cells, ink, modifier): (u16, &str, Modifier),
) {
    let trimmed = text.trim_end();
    if trimmed.is_empty() {
        return;
    }
    let cells = f64::from(cells) - (text.len() - trimmed.len()) as f64;
    let blank = trimmed.len() - trimmed.trim_start().len();
    let left = left + blank as f64 * WIDE;
    let length = (cells - blank as f64) * WIDE;
    let escaped = trimmed
        .trim_start()
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let weight = match modifier.contains(Modifier::BOLD) {
        true => r#" font-weight="bold""#,
        false => "",
    };
    let base = top + HIGH * 0.76;
    let _ = writeln!(
        out,
        r#"<text x="{left:.1}" y="{base:.1}" textLength="{length:.1}" lengthAdjust="spacingAndGlyphs" fill="{ink}"{weight}>{escaped}</text>"#
    );
}
