//! How the screen is divided between two recordings.

use ratatui::layout::Rect;

use crate::layout::MIN_SIZE;

/// Room for two views of the smallest size, and the line between them.
const MIN_PAIR: (u16, u16) = (MIN_SIZE.0, 2 * MIN_SIZE.1 + 1);

/// The halves, A above B, with one line between them.
pub(crate) fn areas((width, height): (u16, u16)) -> [Rect; 2] {
    let (width, height) = (width.max(MIN_PAIR.0), height.max(MIN_PAIR.1));
    let upper = (height - 1) / 2;
    [
        Rect::new(0, 0, width, upper),
        Rect::new(0, upper + 1, width, height - upper - 1),
    ]
}

/// What to say when the terminal is too small for two.
pub(crate) fn too_small((width, height): (u16, u16)) -> Option<String> {
    let (least_width, least_height) = MIN_PAIR;
    (width < least_width || height < least_height).then(|| {
        format!(
            "terminal too small for two recordings: {width}x{height}, needs at least {least_width}x{least_height}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_and_the_line_fill_the_screen() {
        for height in MIN_PAIR.1..60 {
            assert_eq!(too_small((40, height)), None);
            let [upper, lower] = areas((40, height));
            assert_eq!((upper.y, upper.bottom() + 1), (0, lower.y));
            assert_eq!(lower.bottom(), height);
            assert!(upper.height >= MIN_SIZE.1 && lower.height >= MIN_SIZE.1);
        }
        assert!(too_small((40, MIN_PAIR.1 - 1)).is_some_and(|it| it.contains("40x20")));
        assert!(too_small((39, 60)).is_some());
    }
}
