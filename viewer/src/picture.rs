//! A screen of the view as a picture, for papers and tickets.
//!
//! A picture is made of the same cells as the screen. Blocks, lines and signs become shapes, so that
//! neighbouring cells join without a seam; everything else is text.

mod cell_colors;
mod png;
mod shapes;
mod svg;

use std::io;
use std::path::Path;

use ratatui::buffer::Buffer;

use crate::theme::TerminalBackground;

/// The format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// Lines and text, sharp at any size.
    Svg,
    /// Pixels.
    Png,
}

impl PictureFormat {
    /// The format that the name of a file asks for.
    pub fn of_name(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            _ => None,
        }
    }
}

/// The cells of a drawn screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    cells: Buffer,
    ground: TerminalBackground,
}

impl Picture {
    pub(crate) fn new(cells: Buffer, ground: TerminalBackground) -> Self {
        Self { cells, ground }
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        (self.cells.area.width, self.cells.area.height)
    }

    /// The contents of a file of this format.
    ///
    /// # Errors
    /// When the memory for the pixels cannot be written.
    pub fn encode(&self, format: PictureFormat) -> io::Result<Vec<u8>> {
        match format {
            PictureFormat::Svg => Ok(svg::encode(&self.cells, self.ground).into_bytes()),
            PictureFormat::Png => png::encode(&self.cells, self.ground),
        }
    }
}

/// A cell that shows something, with the columns that it takes.
#[derive(Clone, Copy)]
struct ShownCell<'b> {
    cell: &'b ratatui::buffer::Cell,
    x: u16,
    columns: u16,
}

/// The cells of a row. Those that a wide character hides are left out.
fn shown_cells(buffer: &Buffer, y: u16) -> impl Iterator<Item = ShownCell<'_>> {
    let mut x = 0;
    std::iter::from_fn(move || {
        let cell = (x < buffer.area.width).then(|| &buffer[(x, y)])?;
        let wide = crate::text::width(cell.symbol()).clamp(1, 2) as u16;
        let columns = wide.min(buffer.area.width - x);
        let shown = ShownCell { cell, x, columns };
        x += columns;
        Some(shown)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_decides_the_format() {
        let of = |name: &str| PictureFormat::of_name(Path::new(name));
        assert_eq!(of("a.svg"), Some(PictureFormat::Svg));
        assert_eq!(of("runs.d/a.PNG"), Some(PictureFormat::Png));
        assert_eq!(of("a.json"), None);
        assert_eq!(of("svg"), None);
    }

    #[test]
    fn hidden_cells_of_wide_characters_are_left_out() {
        let buffer = Buffer::with_lines(["a阵b"]);
        let shown: Vec<_> = shown_cells(&buffer, 0)
            .map(|it| (it.cell.symbol(), it.x, it.columns))
            .collect();
        assert_eq!(shown, [("a", 0, 1), ("阵", 1, 2), ("b", 3, 1)]);
    }
}
