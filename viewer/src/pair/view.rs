//! Draws two recordings: each half as a complete view, and a line between them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::text::{fit, width};
use crate::view::{self, sorry};

use super::{PairData, ViewPair, areas, too_small};

/// Keys for both halves.
const KEYS: &str = "} { step   G changes   O other   @ align selections";

/// Draws everything.
pub(crate) fn view(pair: &ViewPair, worlds: PairData<'_>, buffer: &mut Buffer) {
    if let Some(message) = too_small(pair.size) {
        return sorry(&message, buffer);
    }
    let areas = areas(pair.size);
    for ((half, world), area) in pair.halves.iter().zip(worlds).zip(areas) {
        let mut own = Buffer::empty(Rect::new(0, 0, area.width, area.height));
        view::view(half, world, &mut own);
        copy(&own, area, buffer);
    }
    between(pair, areas[0].bottom(), buffer);
}

/// Puts a half at its place.
fn copy(from: &Buffer, area: Rect, to: &mut Buffer) {
    for y in 0..area.height {
        for x in 0..area.width {
            if let (Some(cell), Some(there)) =
                (from.cell((x, y)), to.cell_mut((area.x + x, area.y + y)))
            {
                *there = cell.clone();
            }
        }
    }
}

/// The line between the halves: the alignment, and the keys.
fn between(pair: &ViewPair, y: u16, buffer: &mut Buffer) {
    let theme = pair.halves[pair.focus].theme;
    let room = usize::from(pair.size.0);
    let rule = if theme.is_ascii() { "-" } else { "─" };
    buffer.set_stringn(0, y, rule.repeat(room), room, theme.faint());
    let comparing = if pair.is_comparing() {
        "   comparing…"
    } else {
        ""
    };
    let text = format!(" {}{comparing} ", pair.words());
    let text = match theme.is_ascii() {
        true => text.replace('…', "...").replace('µ', "u"),
        false => text,
    };
    let text = fit(&text, room.saturating_sub(2));
    buffer.set_stringn(1, y, &text, room, theme.accent());
    let used = width(&text) + 4;
    if used + width(KEYS) + 2 <= room {
        let x = (room - width(KEYS) - 2) as u16;
        buffer.set_stringn(x, y, format!(" {KEYS} "), room, theme.dim());
    }
}
