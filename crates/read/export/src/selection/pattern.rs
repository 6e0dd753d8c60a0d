//! Names with wildcards.

/// A name in which `*` matches any text and `?` any character; upper and lower case are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern(Vec<char>);

impl NamePattern {
    pub fn new(text: &str) -> Self {
        Self(text.to_lowercase().chars().collect())
    }

    pub fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.to_lowercase().chars().collect();
        let (mut at, mut place) = (0, 0);
        // Position of the last `*`, and the end of its text.
        let mut star: Option<(usize, usize)> = None;
        while place < name.len() {
            match self.0.get(at) {
                Some('*') => {
                    star = Some((at, place));
                    at += 1;
                }
                Some(wanted) if *wanted == '?' || *wanted == name[place] => {
                    at += 1;
                    place += 1;
                }
                _ => {
                    let Some((before, reach)) = star else {
                        return false;
                    };
                    star = Some((before, reach + 1));
                    at = before + 1;
                    place = reach + 1;
                }
            }
        }
        self.0[at..].iter().all(|rest| *rest == '*')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_text() {
        let matches = |pattern: &str, name: &str| NamePattern::new(pattern).matches(name);
        assert!(matches("aclrtMalloc*", "aclrtMallocHost"));
        assert!(matches("aclrtMalloc*", "aclrtMalloc"));
        assert!(!matches("aclrtMalloc", "aclrtMallocHost"));
        assert!(matches("*matmul*", "aclnnMatMul"));
        assert!(matches("a*b*c", "aXbXbXc") && !matches("a*b*c", "aXbXb"));
        assert!(matches("K?", "K1") && !matches("K?", "K12"));
        assert!(matches("*", "") && matches("", "") && !matches("", "x"));
    }
}
