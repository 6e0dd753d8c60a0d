//! Whether a terminal is dark or light.

/// The ground that a terminal shows text on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TerminalBackground {
    #[default]
    Dark,
    Light,
}

impl TerminalBackground {
    /// What `COLORFGBG` says: the numbers of the text's colour and of the ground's, with something else
    /// between them at times.
    pub fn of_variable(text: &str) -> Option<Self> {
        let (_, ground) = text.rsplit_once(';')?;
        match ground.parse::<u8>().ok()? {
            0..=6 | 8 => Some(Self::Dark),
            7 | 9..=15 => Some(Self::Light),
            _ => None,
        }
    }

    /// Parses a terminal's reply to the query of its background, without the frame of the sequence:
    /// `11;rgb:ffff/ffff/ffff`, with one to four digits each.
    pub(crate) fn of_reply(text: &str) -> Option<Self> {
        let parts = text.strip_prefix("11;rgb:").or_else(|| {
            let rgba = text.strip_prefix("11;rgba:")?;
            rgba.rsplit_once('/').map(|(rgb, _)| rgb)
        })?;
        let parts = parts.split('/').map(|digits| {
            let value = u32::from_str_radix(digits, 16).ok()?;
            let most = 16_u32.checked_pow(digits.len() as u32)?.checked_sub(1)?;
            (digits.len() <= 4 && most > 0).then(|| f64::from(value) / f64::from(most))
        });
        let parts: Option<Vec<f64>> = parts.collect();
        let [red, green, blue] = *parts?.as_slice() else {
            return None;
        };
        // How bright the eye sees it.
        let bright = 0.299 * red + 0.587 * green + 0.114 * blue;
        Some(match bright > 0.5 {
            true => Self::Light,
            false => Self::Dark,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_has_the_background_at_its_end() {
        assert_eq!(
            TerminalBackground::of_variable("15;0"),
            Some(TerminalBackground::Dark)
        );
        assert_eq!(
            TerminalBackground::of_variable("0;default;15"),
            Some(TerminalBackground::Light)
        );
        assert_eq!(
            TerminalBackground::of_variable("12;8"),
            Some(TerminalBackground::Dark)
        );
        for nothing in ["", "15", "0;default", "0;99"] {
            assert_eq!(TerminalBackground::of_variable(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn replies_come_with_any_number_of_digits() {
        let of = TerminalBackground::of_reply;
        assert_eq!(of("11;rgb:ffff/ffff/ffff"), Some(TerminalBackground::Light));
        assert_eq!(of("11;rgb:fd/f6/e3"), Some(TerminalBackground::Light));
        assert_eq!(of("11;rgb:0/2/3"), Some(TerminalBackground::Dark));
        assert_eq!(of("11;rgb:0000/2b2b/3636"), Some(TerminalBackground::Dark));
        assert_eq!(
            of("11;rgba:ffff/ffff/ffff/8000"),
            Some(TerminalBackground::Light)
        );
        for nothing in [
            "",
            "10;rgb:0/0/0",
            "11;rgb:0/0",
            "11;rgb:x/0/0",
            "11;rgb:///",
        ] {
            assert_eq!(of(nothing), None, "{nothing}");
        }
    }
}
