//! C types as the tables spell them: `const aclTensorDesc *const[]`, `uint32_t[4]`.

/// A C type, taken apart only as far as declarations and the calling convention need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CType {
    /// The words of the type without qualifiers, such as `unsigned long` or `struct tag`.
    pub base: String,
    /// Whether the base is const.
    pub is_const: bool,
    /// One entry for each `*`, innermost first: whether that pointer itself is const.
    pub pointers: Vec<bool>,
    /// Array lengths, outermost first; `None` is `[]`.
    pub arrays: Vec<Option<usize>>,
    /// For a pointer to a function: its parameters. The fields above then describe its result.
    pub function: Option<FunctionPointer>,
}

/// The part of a function pointer's type that follows the returned type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionPointer {
    pub is_const: bool,
    pub parameters: String,
}

impl CType {
    /// Parses a type without a name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Some((result, rest)) = text.split_once("(*") {
            let (qualifier, parameters) = rest
                .split_once(")(")
                .ok_or_else(|| format!("cannot read the type `{text}`"))?;
            let parameters = parameters
                .strip_suffix(')')
                .ok_or("unclosed parameter list")?;
            let mut ctype = Self::parse(result)?;
            ctype.function = Some(FunctionPointer {
                is_const: qualifier.trim() == "const",
                parameters: parameters.to_owned(),
            });
            return Ok(ctype);
        }
        let (words, suffix) = text.split_at(text.find('[').unwrap_or(text.len()));
        let mut ctype = Self::parse_words(words)?;
        ctype.arrays = parse_lengths(suffix)?;
        Ok(ctype)
    }

    /// Parses `TYPE NAME`, where array lengths stand with the type: `uint32_t[4] rsv`.
    pub fn parse_declaration(text: &str) -> Result<(Self, String), String> {
        let text = text.trim();
        let start = text
            .rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
            .map_or(0, |last| last + 1);
        let (ctype, name) = text.split_at(start);
        if ctype.is_empty() || name.is_empty() {
            return Err(format!("`{text}` is not a type and a name"));
        }
        Ok((Self::parse(ctype)?, name.to_owned()))
    }

    fn parse_words(text: &str) -> Result<Self, String> {
        let mut base: Vec<&str> = Vec::new();
        let mut is_const = false;
        let mut pointers = Vec::new();
        let spaced = text.replace('*', " * ");
        for word in spaced.split_whitespace() {
            match (word, pointers.last_mut()) {
                ("*", _) => pointers.push(false),
                ("const", None) => is_const = true,
                ("const", Some(pointer)) => *pointer = true,
                (_, None) => base.push(word),
                (_, Some(_)) => return Err(format!("cannot read the type `{text}`")),
            }
        }
        if base.is_empty() {
            return Err(format!("no type in `{text}`"));
        }
        Ok(Self {
            base: base.join(" "),
            is_const,
            pointers,
            arrays: Vec::new(),
            function: None,
        })
    }

    /// The declaration of `name` with this type, as C wants it.
    pub fn declare(&self, name: &str) -> String {
        let mut text = String::new();
        if self.is_const {
            text.push_str("const ");
        }
        text.push_str(&self.base);
        text.push(' ');
        for is_const in &self.pointers {
            text.push_str(if *is_const { "*const " } else { "*" });
        }
        match &self.function {
            Some(function) => {
                let qualifier = if function.is_const { "const " } else { "" };
                text.push_str(&format!("(*{qualifier}{name})({})", function.parameters));
            }
            None => text.push_str(name),
        }
        for length in &self.arrays {
            match length {
                Some(length) => text.push_str(&format!("[{length}]")),
                None => text.push_str("[]"),
            }
        }
        text.trim_end().to_owned()
    }

    /// The type as text, without a name.
    pub fn text(&self) -> String {
        self.declare("")
    }

    /// The base's name without `struct`, `union` or `enum`.
    pub fn base_name(&self) -> &str {
        self.base.rsplit(' ').next().unwrap_or(&self.base)
    }

    /// Whether a parameter of this type is an address.
    pub fn is_address(&self) -> bool {
        !self.pointers.is_empty() || !self.arrays.is_empty() || self.function.is_some()
    }

    /// The target of a pointer with exactly one `*` (or `[]`) more than a value.
    pub fn pointee(&self) -> Option<Self> {
        if self.function.is_some() || self.arrays.len() > 1 {
            return None;
        }
        let mut target = self.clone();
        if target.arrays.pop().is_none() {
            target.pointers.pop()?;
        }
        Some(target)
    }

    /// Whether a pointer to this type forbids writing.
    pub fn is_read_only(&self) -> bool {
        self.pointers.last().copied().unwrap_or(self.is_const)
    }
}

fn parse_lengths(text: &str) -> Result<Vec<Option<usize>>, String> {
    let mut lengths = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (length, after) = rest
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'))
            .ok_or_else(|| format!("cannot read the array lengths `{text}`"))?;
        lengths.push(match length {
            "" => None,
            _ => Some(
                length
                    .parse()
                    .map_err(|_| format!("array length `{length}`"))?,
            ),
        });
        rest = after.trim();
    }
    Ok(lengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redeclared(text: &str) -> String {
        let (ctype, name) = CType::parse_declaration(text).unwrap();
        ctype.declare(&name)
    }

    #[test]
    fn declarations_are_put_into_c_order() {
        assert_eq!(redeclared("uint32_t[4] rsv"), "uint32_t rsv[4]");
        assert_eq!(redeclared("uint64_t[128][2] hw"), "uint64_t hw[128][2]");
        assert_eq!(
            redeclared("const aclTensorDesc *const[] in"),
            "const aclTensorDesc *const in[]"
        );
        assert_eq!(redeclared("int32_t *const out"), "int32_t *const out");
        assert_eq!(redeclared("const void ** src"), "const void **src");
        assert_eq!(redeclared("struct rtInfo * info"), "struct rtInfo *info");
        assert_eq!(
            redeclared("int32_t (*const)(const chunk *, int32_t) callback"),
            "int32_t (*const callback)(const chunk *, int32_t)"
        );
    }

    #[test]
    fn a_pointee_keeps_its_const() {
        let pointee = CType::parse("const void **").unwrap().pointee().unwrap();
        assert_eq!(pointee.text(), "const void *");
        assert!(!pointee.is_read_only());
        assert!(
            CType::parse("const int *")
                .unwrap()
                .pointee()
                .unwrap()
                .is_read_only()
        );
        assert!(
            CType::parse("char *const *")
                .unwrap()
                .pointee()
                .unwrap()
                .is_read_only()
        );
        assert!(CType::parse("int").unwrap().pointee().is_none());
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(CType::parse("").is_err());
        assert!(CType::parse("* int").is_err());
        assert!(CType::parse("int[x]").is_err());
        assert!(CType::parse_declaration("int").is_err());
    }
}
