//! Attributes of operators by name, in addition to their tensors.

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Attribute {
    Integers(Vec<i64>),
    Floats(Vec<f32>),
    Text(String),
}

/// The attributes of an operator, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attributes(Vec<(String, Attribute)>);

impl Attributes {
    pub(crate) fn set(&mut self, name: String, value: Attribute) {
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, value));
    }

    #[cfg(feature = "operators")]
    fn get(&self, name: &str) -> Option<&Attribute> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// Some integers, or none.
    #[cfg(feature = "operators")]
    pub(crate) fn integers(&self, name: &str) -> Vec<i64> {
        match self.get(name) {
            Some(Attribute::Integers(values)) => values.clone(),
            _ => Vec::new(),
        }
    }

    #[cfg(feature = "operators")]
    pub(crate) fn integer(&self, name: &str, otherwise: i64) -> i64 {
        self.integers(name).first().copied().unwrap_or(otherwise)
    }

    #[cfg(feature = "operators")]
    pub(crate) fn float(&self, name: &str) -> f64 {
        match self.get(name) {
            Some(Attribute::Floats(values)) => values.first().copied().unwrap_or(0.0).into(),
            _ => 0.0,
        }
    }

    /// A text, or none.
    #[cfg(feature = "operators")]
    pub(crate) fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Attribute::Text(text)) => text,
            _ => "",
        }
    }
}
