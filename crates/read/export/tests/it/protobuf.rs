//! Messages of protocol buffers as lists of fields, read by the encoding's own rules.

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
enum FieldValue<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FieldList<'a>(Vec<(u32, FieldValue<'a>)>);

impl<'a> FieldList<'a> {
    /// Fails when the bytes are no message.
    #[track_caller]
    pub(crate) fn parse(mut bytes: &'a [u8]) -> Self {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let tag = varint(&mut bytes);
            let value = match tag & 7 {
                0 => FieldValue::Number(varint(&mut bytes)),
                1 => FieldValue::Number(u64::from_le_bytes(
                    take(&mut bytes, 8).try_into().expect("eight bytes"),
                )),
                2 => {
                    let length = varint(&mut bytes) as usize;
                    FieldValue::Bytes(take(&mut bytes, length))
                }
                other => panic!("wire type {other}"),
            };
            let field = u32::try_from(tag >> 3).expect("a field's number");
            assert!(field > 0);
            fields.push((field, value));
        }
        Self(fields)
    }

    fn values(&self, field: u32) -> impl Iterator<Item = FieldValue<'a>> + '_ {
        let fields = self.0.iter().filter(move |entry| entry.0 == field);
        fields.map(|entry| entry.1)
    }

    pub(crate) fn numbers(&self, field: u32) -> Vec<u64> {
        let number = |value| match value {
            FieldValue::Number(number) => number,
            FieldValue::Bytes(_) => panic!("field {field} is no number"),
        };
        self.values(field).map(number).collect()
    }

    pub(crate) fn has(&self, field: u32) -> bool {
        self.values(field).next().is_some()
    }

    /// The value of a field that occurs at most once.
    #[track_caller]
    pub(crate) fn number(&self, field: u32) -> Option<u64> {
        let numbers = self.numbers(field);
        assert!(numbers.len() < 2, "field {field} occurs twice");
        numbers.first().copied()
    }

    pub(crate) fn all_bytes(&self, field: u32) -> Vec<&'a [u8]> {
        let bytes = |value| match value {
            FieldValue::Bytes(bytes) => bytes,
            FieldValue::Number(_) => panic!("field {field} is a number"),
        };
        self.values(field).map(bytes).collect()
    }

    #[track_caller]
    pub(crate) fn text(&self, field: u32) -> Option<String> {
        let texts = self.all_bytes(field);
        assert!(texts.len() < 2, "field {field} occurs twice");
        let text = texts.first()?;
        Some(String::from_utf8(text.to_vec()).expect("UTF-8"))
    }

    pub(crate) fn messages(&self, field: u32) -> Vec<FieldList<'a>> {
        self.all_bytes(field)
            .into_iter()
            .map(FieldList::parse)
            .collect()
    }

    /// A message that occurs at most once.
    #[track_caller]
    pub(crate) fn message(&self, field: u32) -> Option<FieldList<'a>> {
        let mut messages = self.messages(field);
        assert!(messages.len() < 2, "field {field} occurs twice");
        messages.pop()
    }

    /// Fails when there is a field that is not one of these.
    #[track_caller]
    pub(crate) fn only(&self, known: &[u32]) {
        for (field, _) in &self.0 {
            assert!(known.contains(field), "field {field} of {self:?}");
        }
    }
}

#[track_caller]
fn take<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at_checked(length).expect("a whole field");
    *bytes = rest;
    taken
}

#[track_caller]
fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..70).step_by(7) {
        let byte = take(bytes, 1)[0];
        assert!(shift < 63 || byte < 2, "more than 64 bits");
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    panic!("a number without an end");
}
