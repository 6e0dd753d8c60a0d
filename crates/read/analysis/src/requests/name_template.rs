//! Templates of names: `{id}`, `{phase}` and `{tokens}` are parts of a name, `*` is any text.

/// Why a text is no template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateError {
    /// It has no field for the id.
    NoId,
    /// Braces have another word.
    UnknownField,
    /// Two fields have no text between them, or a field comes twice.
    Ambiguous,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TemplateField {
    Id,
    Phase,
    Tokens,
    Any,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePiece {
    Text(String),
    Field(TemplateField),
}

/// A template of names of ranges and marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameTemplate {
    pieces: Vec<TemplatePiece>,
}

/// The parts of a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NameFields<'n> {
    pub(super) id: Option<&'n str>,
    pub(super) phase: Option<&'n str>,
    pub(super) tokens: Option<&'n str>,
}

impl NameTemplate {
    /// Reads a template.
    ///
    /// # Errors
    /// When the text is not a template.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut pieces: Vec<TemplatePiece> = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, after) = next_piece(rest)?;
            let is_field = |it: &TemplatePiece| matches!(it, TemplatePiece::Field(_));
            let is_adjacent = is_field(&piece) && pieces.last().is_some_and(is_field);
            let is_repeated = piece != TemplatePiece::Field(TemplateField::Any)
                && is_field(&piece)
                && pieces.contains(&piece);
            if is_adjacent || is_repeated {
                return Err(TemplateError::Ambiguous);
            }
            pieces.push(piece);
            rest = after;
        }
        match pieces.contains(&TemplatePiece::Field(TemplateField::Id)) {
            true => Ok(Self { pieces }),
            false => Err(TemplateError::NoId),
        }
    }

    /// The parts of a name that matches. A field is as short as possible.
    pub(super) fn fields<'n>(&self, name: &'n str) -> Option<NameFields<'n>> {
        matching(&self.pieces, name)
    }
}

fn next_piece(text: &str) -> Result<(TemplatePiece, &str), TemplateError> {
    if let Some(rest) = text.strip_prefix('*') {
        return Ok((TemplatePiece::Field(TemplateField::Any), rest));
    }
    let Some(inside) = text.strip_prefix('{') else {
        let end = text.find(['*', '{']).unwrap_or(text.len());
        let (literal, rest) = text.split_at(end);
        return Ok((TemplatePiece::Text(literal.to_owned()), rest));
    };
    let (name, rest) = inside.split_once('}').ok_or(TemplateError::UnknownField)?;
    let field = match name {
        "id" => TemplateField::Id,
        "phase" => TemplateField::Phase,
        "tokens" => TemplateField::Tokens,
        _ => return Err(TemplateError::UnknownField),
    };
    Ok((TemplatePiece::Field(field), rest))
}

fn matching<'n>(pieces: &[TemplatePiece], name: &'n str) -> Option<NameFields<'n>> {
    let Some((first, others)) = pieces.split_first() else {
        return name.is_empty().then(NameFields::default);
    };
    let field = match first {
        TemplatePiece::Text(text) => return matching(others, name.strip_prefix(text.as_str())?),
        TemplatePiece::Field(field) => *field,
    };
    let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
    ends.filter(|end| *end > 0 || field == TemplateField::Any)
        .find_map(|end| {
            let (value, rest) = name.split_at(end);
            // Without the text that comes next, no other place is possible.
            if let Some(TemplatePiece::Text(text)) = others.first()
                && !rest.starts_with(text.as_str())
            {
                return None;
            }
            let mut found = matching(others, rest)?;
            match field {
                TemplateField::Id => found.id = Some(value),
                TemplateField::Phase => found.phase = Some(value),
                TemplateField::Tokens => found.tokens = Some(value),
                TemplateField::Any => {}
            }
            Some(found)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id<'n>(template: &str, name: &'n str) -> Option<&'n str> {
        NameTemplate::parse(template).unwrap().fields(name)?.id
    }

    #[test]
    fn fields_are_between_texts() {
        assert_eq!(id("r={id}", "r=7"), Some("7"));
        assert_eq!(id("r={id}", "r="), None);
        assert_eq!(id("r={id}", "xr=7"), None);
        assert_eq!(id("*r={id};*", "xr=7;"), Some("7"));
        assert_eq!(id("{id} done", "a b done"), Some("a b"));
        assert_eq!(id("{id}é", "7é"), Some("7"));
        let template = NameTemplate::parse("{phase}:{id} n={tokens}").unwrap();
        let found = template.fields("decode:7 n=20").unwrap();
        assert_eq!((found.phase, found.tokens), (Some("decode"), Some("20")));
    }

    #[test]
    fn other_texts_are_no_templates() {
        for (text, error) in [
            ("request *", TemplateError::NoId),
            ("{id", TemplateError::UnknownField),
            ("{ids}", TemplateError::UnknownField),
            ("{id}{phase}", TemplateError::Ambiguous),
            ("{id} {id}", TemplateError::Ambiguous),
        ] {
            assert_eq!(NameTemplate::parse(text), Err(error), "{text}");
        }
    }
}
