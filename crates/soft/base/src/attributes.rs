//! Attributes of operators by name, in addition to their tensors.

#[derive(Debug, Clone, PartialEq)]
pub enum Attribute {
    Integers(Vec<i64>),
    Floats(Vec<f32>),
    Text(String),
}

/// The attributes of an operator, by name.
#[derive(Debug, Clone, Default)]
pub struct Attributes(Vec<(String, Attribute)>);

impl Attributes {
    pub fn set(&mut self, name: String, value: Attribute) {
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, value));
    }

    fn get(&self, name: &str) -> Option<&Attribute> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// Some integers, or none.
    pub fn integers(&self, name: &str) -> Vec<i64> {
        match self.get(name) {
            Some(Attribute::Integers(values)) => values.clone(),
            _ => Vec::new(),
        }
    }

    pub fn integer(&self, name: &str, otherwise: i64) -> i64 {
        self.integers(name).first().copied().unwrap_or(otherwise)
    }

    pub fn float(&self, name: &str) -> f64 {
        self.float_or(name, 0.0)
    }

    pub fn float_or(&self, name: &str, otherwise: f64) -> f64 {
        match self.get(name) {
            Some(Attribute::Floats(values)) => values.first().copied().map_or(otherwise, f64::from),
            _ => otherwise,
        }
    }

    /// Some numbers, or none.
    pub fn floats(&self, name: &str) -> Vec<f64> {
        match self.get(name) {
            Some(Attribute::Floats(values)) => values.iter().copied().map(f64::from).collect(),
            _ => Vec::new(),
        }
    }

    /// A text, or none.
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Attribute::Text(text)) => text,
            _ => "",
        }
    }
}
