//! How the screen is divided.

use ratatui::layout::Rect;

use crate::item::TrackKey;
use crate::lanes::ViewRow;

/// Below this the view says that it needs more room.
pub(crate) const MIN_SIZE: (u16, u16) = (40, 10);

/// Where everything is. A part that has no room is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScreenLayout {
    pub(crate) title: Rect,
    pub(crate) minimap: Rect,
    pub(crate) ruler: Rect,
    /// Labels of the lanes.
    pub(crate) gutter: Rect,
    pub(crate) lanes: Rect,
    pub(crate) log: Rect,
    pub(crate) detail: Rect,
    pub(crate) hint: Rect,
    pub(crate) status: Rect,
    /// The first rows, which do not scroll.
    pub(crate) pinned: usize,
}

/// Inputs of the division of the screen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LayoutInputs {
    pub(crate) log: bool,
    pub(crate) large_detail: bool,
    /// A list takes the place of the details.
    pub(crate) list: bool,
    pub(crate) pinned: usize,
    /// There is no line for keys.
    pub(crate) is_still: bool,
}

impl ScreenLayout {
    /// On a screen that is too small, nothing is drawn, but keys and clicks still work: as on the
    /// smallest sufficient one.
    pub(crate) fn new((width, height): (u16, u16), wishes: LayoutInputs) -> Self {
        let (width, height) = (width.max(MIN_SIZE.0), height.max(MIN_SIZE.1));
        let roomy = height >= 16;
        let hint = u16::from(roomy && !wishes.is_still);
        let fixed = 3 + u16::from(roomy) + hint;
        let rest = height.saturating_sub(fixed);
        let detail = match height {
            _ if wishes.large_detail || wishes.list => rest / 2,
            36.. => 9,
            22..36 => 6,
            16..22 => 4,
            _ => 2,
        };
        let log = if wishes.log { (rest - detail) / 3 } else { 0 };
        let gutter = match width {
            120.. => 28,
            76..120 => 24,
            _ => 16,
        };
        let mut top = 0;
        let mut take = |height: u16| {
            let area = Rect::new(0, top, width, height);
            top += height;
            area
        };
        let title = take(1);
        let minimap = take(u16::from(roomy));
        let ruler = take(1);
        let below = detail + log + hint + 1;
        let lanes = take(height.saturating_sub(ruler.bottom() + below));
        let log = take(log);
        let detail = take(detail);
        let hint = take(hint);
        let status = take(1);
        let right = |area: Rect| Rect {
            x: gutter,
            width: width.saturating_sub(gutter),
            ..area
        };
        Self {
            title,
            minimap: right(minimap),
            ruler: right(ruler),
            gutter: Rect {
                width: gutter,
                ..lanes
            },
            lanes: right(lanes),
            log,
            detail,
            hint,
            status,
            pinned: wishes.pinned,
        }
    }

    /// How many lines rows have: the most for which there is room.
    pub(crate) fn heights(&self, rows: &[ViewRow]) -> RowHeights {
        let has_room = |heights: &&RowHeights| {
            let lines = (0..rows.len()).map(|index| usize::from(heights.of(rows, index)));
            lines.sum::<usize>() <= usize::from(self.lanes.height)
        };
        let found = RowHeights::BY_ROOM.iter().find(has_room);
        *found.unwrap_or(&RowHeights::DENSE)
    }

    /// Lanes above and below those that are on screen.
    pub(crate) fn off_screen(&self, rows: &[ViewRow], scroll: usize) -> (usize, usize) {
        let lanes = |rows: &[ViewRow]| {
            let has_slices = |row: &&ViewRow| !row.is_heading();
            rows.iter().filter(has_slices).count()
        };
        let others = &rows[self.pinned.min(rows.len())..];
        let above = lanes(&others[..scroll.min(others.len())]);
        let last = self.visible(rows, scroll).last();
        let below = last.map_or(0, |(index, ..)| lanes(&rows[(index + 1).min(rows.len())..]));
        (above, below)
    }

    /// The rows on screen, each with its first line: those that are pinned, then the others from
    /// the one with number `scroll` on.
    pub(crate) fn visible<'a>(
        &self,
        rows: &'a [ViewRow],
        scroll: usize,
    ) -> impl Iterator<Item = (usize, ViewRow, u16)> + 'a {
        let heights = self.heights(rows);
        let (top, bottom) = (self.lanes.top(), self.lanes.bottom());
        let (pinned, others) = rows.split_at(self.pinned.min(rows.len()));
        let others = (pinned.len()..).zip(others).skip(scroll);
        (0..)
            .zip(pinned)
            .chain(others)
            .scan(top, move |y, (index, row)| {
                let line = *y;
                *y = y.saturating_add(heights.of(rows, index));
                (line < bottom).then_some((index, *row, line))
            })
    }
}

/// How many lines rows have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowHeights {
    /// Lines of slices of a lane that may have arrows.
    pub(crate) bar: u16,
    /// Lines for arrows below each of these.
    pub(crate) free: u16,
    /// Lines for arrows below the last lane of a device.
    pub(crate) gap: u16,
}

impl RowHeights {
    const DENSE: Self = heights(1, 0, 0);
    /// From the roomiest on.
    const BY_ROOM: [Self; 3] = [heights(2, 1, 0), heights(1, 1, 0), heights(1, 0, 1)];

    /// Whether there was no room for arrows.
    pub(crate) fn is_dense(self) -> bool {
        self == Self::DENSE
    }

    /// Lines of a row, free ones included.
    pub(crate) fn of(self, rows: &[ViewRow], index: usize) -> u16 {
        let is_of_device = |row: &ViewRow| row.track().is_some_and(TrackKey::is_of_device);
        let Some(row) = rows.get(index) else {
            return 0;
        };
        let own = match row.has_arrows() {
            true => self.bar + self.free,
            false => 1,
        };
        let is_last = is_of_device(row) && !rows.get(index + 1).is_some_and(is_of_device);
        own + if is_last { self.gap } else { 0 }
    }

    /// Lines of a row that slices are drawn in.
    pub(crate) fn bar_of(self, row: ViewRow) -> u16 {
        if row.has_arrows() { self.bar } else { 1 }
    }
}

const fn heights(bar: u16, free: u16, gap: u16) -> RowHeights {
    RowHeights { bar, free, gap }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_fill_the_screen_without_overlap() {
        for width in [40, 80, 200] {
            for height in 10..60 {
                for (log, large_detail) in [(false, false), (true, false), (true, true)] {
                    let wishes = LayoutInputs {
                        log,
                        large_detail,
                        is_still: log != large_detail,
                        ..LayoutInputs::default()
                    };
                    let it = ScreenLayout::new((width, height), wishes);
                    let parts = [
                        it.title, it.minimap, it.ruler, it.lanes, it.log, it.detail, it.hint,
                        it.status,
                    ];
                    let sum: u16 = parts.iter().map(|part| part.height).sum();
                    assert_eq!(sum, height, "{width}x{height}");
                    assert_eq!(it.status.bottom(), height);
                    assert_eq!(it.gutter.right(), it.lanes.left());
                    assert_eq!(it.lanes.right(), width);
                }
            }
        }
    }

    #[test]
    fn lanes_have_room_at_every_size() {
        for height in 10..60 {
            let it = ScreenLayout::new((40, height), LayoutInputs::default());
            assert!(it.lanes.height >= 3, "{height}: {}", it.lanes.height);
        }
    }
}
