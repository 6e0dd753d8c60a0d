//! Cells as pixels. Letters come from a table of pictures of them, since hosts without a desktop have no fonts.

use std::io;

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};
use png::{BitDepth, ColorType, Encoder};
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::Modifier;

use crate::theme::TerminalBackground;

use super::cell_colors::{CellColors, DefaultColors, Rgb};
use super::shapes::{Shape, shapes};
use super::{ShownCell, shown_cells};

const LETTERS: RasterHeight = RasterHeight::Size24;
const WIDE: usize = get_raster_width(FontWeight::Regular, LETTERS);
/// Height of a cell, with a line above and below letters.
const HIGH: usize = LETTERS.val() + 2;
const LETTER_TOP: usize = 1;
/// Space around the cells.
const MARGIN: usize = 12;
/// Samples of each pixel of an outline, per direction.
const SAMPLES: usize = 4;

pub(super) fn encode(buffer: &Buffer, ground: TerminalBackground) -> io::Result<Vec<u8>> {
    let defaults = DefaultColors::of(ground);
    let wide = usize::from(buffer.area.width) * WIDE + 2 * MARGIN;
    let high = usize::from(buffer.area.height) * HIGH + 2 * MARGIN;
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, wide as u32, high as u32);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    {
        use std::io::Write;
        // A row of cells at a time: large pictures need no more memory than their files.
        let mut stream = writer.stream_writer()?;
        let margin = Pixels::new(wide, MARGIN, defaults.ground);
        stream.write_all(&margin.bytes())?;
        for y in 0..buffer.area.height {
            let mut row = Pixels::new(wide, HIGH, defaults.ground);
            for shown in shown_cells(buffer, y) {
                draw(&mut row, shown, defaults);
            }
            stream.write_all(&row.bytes())?;
        }
        stream.write_all(&margin.bytes())?;
        stream.finish()?;
    }
    writer.finish()?;
    Ok(out)
}

/// Some lines of pixels.
struct Pixels {
    wide: usize,
    pixels: Vec<Rgb>,
}

/// A part of them: left, top, width, height.
type PixelArea = [usize; 4];

impl Pixels {
    fn new(wide: usize, high: usize, ground: Rgb) -> Self {
        Self {
            wide,
            pixels: vec![ground; wide * high],
        }
    }

    fn bytes(&self) -> Vec<u8> {
        self.pixels.concat()
    }

    /// Covers pixels of an area with ink, each as far as `share` says for its place in the area.
    fn cover(
        &mut self,
        [left, top, wide, high]: PixelArea,
        ink: Rgb,
        share: impl Fn(usize, usize) -> f64,
    ) {
        for y in 0..high {
            let begin = (top + y) * self.wide + left;
            let line = self.pixels.iter_mut().skip(begin).take(wide);
            for (x, pixel) in line.enumerate() {
                let share = share(x, y).clamp(0.0, 1.0);
                for (old, new) in pixel.iter_mut().zip(ink) {
                    let mixed = f64::from(*old) * (1.0 - share) + f64::from(new) * share;
                    *old = mixed.round() as u8;
                }
            }
        }
    }
}

fn draw(row: &mut Pixels, shown: ShownCell<'_>, defaults: DefaultColors) {
    let colors = CellColors::of(shown.cell, defaults);
    let left = MARGIN + usize::from(shown.x) * WIDE;
    if let Some(ground) = colors.ground {
        let wide = usize::from(shown.columns) * WIDE;
        row.cover([left, 0, wide, HIGH], ground, |_, _| 1.0);
    }
    match shapes(shown.cell.symbol()) {
        Some(shapes) => {
            for shape in &shapes {
                row.cover([left, 0, WIDE, HIGH], colors.ink, |x, y| {
                    covered(shape, x, y)
                });
            }
        }
        None => letters(row, shown.cell, (left, colors.ink)),
    }
}

/// The share of a pixel of a cell that a shape covers.
fn covered(shape: &Shape, x: usize, y: usize) -> f64 {
    match shape {
        Shape::Shade(share) => *share,
        Shape::Rectangle([left, top, right, bottom]) => {
            let overlap = |from: f64, to: f64, place: usize, cells: usize| {
                let (from, to) = (from * cells as f64, to * cells as f64);
                (to.min((place + 1) as f64) - from.max(place as f64)).max(0.0)
            };
            overlap(*left, *right, x, WIDE) * overlap(*top, *bottom, y, HIGH)
        }
        Shape::Outline(loops) => {
            let at = |place: usize, sample: usize, cells: usize| {
                let middle = (sample as f64 + 0.5) / SAMPLES as f64;
                (place as f64 + middle) / cells as f64
            };
            let samples = (0..SAMPLES).flat_map(|i| (0..SAMPLES).map(move |j| (i, j)));
            let inside = samples
                .filter(|(i, j)| is_inside(loops, (at(x, *i, WIDE), at(y, *j, HIGH))))
                .count();
            inside as f64 / (SAMPLES * SAMPLES) as f64
        }
    }
}

/// Whether a point is inside of an odd number of closed lines.
fn is_inside(loops: &[Vec<(f64, f64)>], (x, y): (f64, f64)) -> bool {
    let crossings = loops.iter().flat_map(|points| {
        let next = points.iter().cycle().skip(1);
        points.iter().zip(next)
    });
    let is_right_of = |(from, to): &(&(f64, f64), &(f64, f64))| {
        let spans = (from.1 > y) != (to.1 > y);
        spans && x < from.0 + (y - from.1) / (to.1 - from.1) * (to.0 - from.0)
    };
    crossings.filter(is_right_of).count() % 2 == 1
}

/// Draws the letters of a cell one over the other: a letter and a sign that completes it.
fn letters(row: &mut Pixels, cell: &Cell, (left, ink): (usize, Rgb)) {
    let weight = match cell.modifier.contains(Modifier::BOLD) {
        true => FontWeight::Bold,
        false => FontWeight::Regular,
    };
    for character in cell.symbol().chars().flat_map(drawable) {
        let Some(raster) = get_raster(character, weight, LETTERS) else {
            continue;
        };
        let area = [left, LETTER_TOP, raster.width().min(WIDE), raster.height()];
        let share = |x, y| f64::from(raster.pixel(x, y).unwrap_or(0)) / 255.0;
        row.cover(area, ink, share);
    }
}

/// Characters of the table that show a character: itself, some that look like it, or a question mark.
fn drawable(character: char) -> impl Iterator<Item = char> {
    let shown = match character {
        ' '..='~' | '\u{a0}'..='\u{ff}' => [Some(character), None],
        'μ' => [Some('µ'), None],
        '≥' => [Some('>'), Some('_')],
        '≤' => [Some('<'), Some('_')],
        '≈' => [Some('~'), Some('-')],
        '“' | '”' => [Some('"'), None],
        '‘' | '’' => [Some('\''), None],
        '–' | '—' | '−' => [Some('-'), None],
        // Marks on the letter before, and other characters without a width.
        other if crate::text::width(other.encode_utf8(&mut [0; 4])) == 0 => [None, None],
        _ => [Some('?'), None],
    };
    shown.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The decoded picture of some lines of text: its width and its pixels.
    fn decoded(lines: &[&str]) -> (usize, Vec<Rgb>) {
        let buffer = Buffer::with_lines(lines.iter().copied());
        let bytes = encode(&buffer, TerminalBackground::Light).unwrap();
        let mut reader = png::Decoder::new(io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!(info.height as usize, lines.len() * HIGH + 2 * MARGIN);
        let pixels = pixels.chunks_exact(3).map(|it| [it[0], it[1], it[2]]);
        (info.width as usize, pixels.collect())
    }

    /// How dark a cell of one row is, from 0 to 1.
    fn darkness((wide, pixels): &(usize, Vec<Rgb>), column: usize) -> f64 {
        let left = MARGIN + column * WIDE;
        let lines = (MARGIN..MARGIN + HIGH).map(|y| &pixels[y * wide + left..][..WIDE]);
        let dark = lines
            .flatten()
            .map(|pixel| 1.0 - f64::from(pixel[0]) / 255.0);
        dark.sum::<f64>() / (WIDE * HIGH) as f64
    }

    #[test]
    fn blocks_are_as_dark_as_they_are_wide() {
        let drawn = decoded(&["█▌▏ ░"]);
        let shares: Vec<f64> = (0..5).map(|column| darkness(&drawn, column)).collect();
        let full = shares[0];
        assert!(full > 0.8, "{shares:?}");
        for (share, part) in shares.iter().zip([1.0, 0.5, 0.125, 0.0, 0.25]) {
            assert!((share / full - part).abs() < 0.02, "{shares:?}");
        }
    }

    #[test]
    fn each_symbol_of_the_view_leaves_a_mark() {
        let symbols = "azAZ09#?_µ±×·éß≥≈“…─│┌╋╌┊▏▄▚■●◆◇►▸▹▼▲→←↓↑⣷阵";
        for symbol in symbols.chars() {
            let drawn = decoded(&[&symbol.to_string()]);
            assert!(darkness(&drawn, 0) > 0.01, "{symbol}");
        }
    }

    #[test]
    fn different_letters_look_different() {
        let drawn = decoded(&["ab"]);
        assert_ne!(darkness(&drawn, 0), darkness(&drawn, 1));
        assert_eq!(drawable('阵').collect::<String>(), "?");
        assert_eq!(drawable('≥').collect::<String>(), ">_");
        assert_eq!(drawable('\u{301}').collect::<String>(), "");
    }
}
