//! The user's settings for every view: the text of a configuration file. Reading the file is not done
//! here.

mod keys;
mod layouts;

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::theme::TerminalBackground;

pub(crate) use keys::KeyBindings;
pub(crate) use layouts::{ArrowChoice, DetailSize, NamePattern, SavedLayout, rank};

/// The user's settings for every view.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Background of the terminal; `None` asks the terminal.
    pub ground: Option<TerminalBackground>,
    /// Colours on or off, regardless of the environment.
    pub colors: Option<bool>,
    /// Nothing but ASCII.
    pub ascii: Option<bool>,
    pub(crate) keys: KeyBindings,
    pub(crate) layouts: Vec<SavedLayout>,
    /// The layout that the view begins with.
    pub(crate) first: Option<usize>,
}

/// Why a text is no configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {what}")]
pub struct ConfigError {
    /// The number of the line, from 1.
    pub line: usize,
    /// The fault, and a way to mend it.
    pub what: String,
}

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFile {
    #[serde(default)]
    theme: ThemeName,
    #[serde(default)]
    color: ColorName,
    ascii: Option<bool>,
    layout: Option<Spanned<String>>,
    #[serde(default)]
    keys: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    layouts: BTreeMap<String, SavedLayout>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ThemeName {
    #[default]
    Auto,
    Dark,
    Light,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ColorName {
    #[default]
    Auto,
    Always,
    Never,
}

/// Something wrong at a place of the text.
struct ConfigMistake {
    at: usize,
    what: String,
}

impl Config {
    /// The configuration that a text in TOML holds.
    ///
    /// # Errors
    /// The first thing that is wrong with it, with its line.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let error = |wrong: ConfigMistake| ConfigError {
            line: line_of(text, wrong.at),
            what: wrong.what,
        };
        let written: ConfigFile = toml::from_str(text).map_err(|refused| {
            let at = refused.span().map_or(0, |span| span.start);
            // Only its first line names the fault.
            let what = refused.message().lines().next().unwrap_or_default();
            error(ConfigMistake {
                at,
                what: what.to_owned(),
            })
        })?;
        Self::of(written).map_err(error)
    }

    fn of(written: ConfigFile) -> Result<Self, ConfigMistake> {
        let layouts = written.layouts.into_iter();
        let layouts: Vec<SavedLayout> = layouts
            .map(|(name, layout)| SavedLayout { name, ..layout })
            .collect();
        let find = |name: &str| layouts.iter().position(|it| it.name == name);
        let first = match &written.layout {
            Some(name) => Some(find(name.get_ref()).ok_or_else(|| ConfigMistake {
                at: name.span().start,
                what: format!(
                    "there is no layout “{0}”: write one as [layouts.{0}]",
                    name.get_ref()
                ),
            })?),
            None => None,
        };
        Ok(Self {
            ground: match written.theme {
                ThemeName::Auto => None,
                ThemeName::Dark => Some(TerminalBackground::Dark),
                ThemeName::Light => Some(TerminalBackground::Light),
            },
            colors: match written.color {
                ColorName::Auto => None,
                ColorName::Always => Some(true),
                ColorName::Never => Some(false),
            },
            ascii: written.ascii,
            keys: KeyBindings::of(&written.keys, &layouts)?,
            layouts,
            first,
        })
    }
}

/// The number of the line that a place of a text is in, from 1.
fn line_of(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str) -> String {
        Config::parse(text).expect_err("it is wrong").to_string()
    }

    #[test]
    fn nothing_wants_nothing() {
        let config = Config::parse("# only a comment\n").expect("it is empty");
        assert_eq!(config.ground, None);
        assert_eq!(config.colors, None);
        assert_eq!(config.ascii, None);
        assert_eq!(config.first, None);
        assert!(config.layouts.is_empty());
    }

    #[test]
    fn looks_are_as_the_options_of_the_command_line() {
        let text = "theme = \"light\"\ncolor = \"never\"\nascii = true\n";
        let config = Config::parse(text).expect("it is right");
        assert_eq!(config.ground, Some(TerminalBackground::Light));
        assert_eq!(config.colors, Some(false));
        assert_eq!(config.ascii, Some(true));
        let config = Config::parse("theme = \"auto\"\ncolor = \"always\"").expect("it is right");
        assert_eq!((config.ground, config.colors), (None, Some(true)));
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        let theme = refused("ascii = true\ntheme = \"blue\"\n");
        assert!(
            theme.starts_with("2: ") && theme.contains("`light`"),
            "{theme}"
        );
        let unknown = refused("\n\nthem = \"dark\"\n");
        assert!(
            unknown.starts_with("3: ") && unknown.contains("theme"),
            "{unknown}"
        );
        let kind = refused("ascii = \"yes\"\n");
        assert!(
            kind.starts_with("1: ") && kind.contains("boolean"),
            "{kind}"
        );
        let syntax = refused("ascii = true\n\n[keys\n");
        assert!(syntax.starts_with("3: "), "{syntax}");
        let layout = refused("[keys]\n\n[layouts.a]\nhide = [\"x\"]\nshow = 1\n");
        assert!(
            layout.starts_with("5: ") && layout.contains("show"),
            "{layout}"
        );
        let twice = refused("ascii = true\nascii = false\n");
        assert!(twice.starts_with("2: "), "{twice}");
    }

    #[test]
    fn the_first_layout_must_be_there() {
        let text = "layout = \"two\"\n[layouts.one]\n[layouts.two]\n";
        assert_eq!(Config::parse(text).expect("it is there").first, Some(1));
        let missing = refused("\nlayout = \"three\"\n[layouts.one]\n");
        assert_eq!(
            missing,
            "2: there is no layout “three”: write one as [layouts.three]"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_taken_or_refused(text in "[a-z\\[\\]\"=.\n# \u{0}é]{0,80}") {
            if let Err(error) = Config::parse(&text) {
                let lines = text.matches('\n').count() + 1;
                proptest::prop_assert!((1..=lines).contains(&error.line));
                proptest::prop_assert!(!error.what.contains('\n'));
            }
        }
    }
}
