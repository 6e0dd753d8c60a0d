//! Messages of ranges that are objects of JSON. PyTorch and MindSpore mark collectives in this way. The member `opName` is the
//! operation, and the other members are its arguments. There is a backslash before each quote.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// The member that names the operation.
const NAME: &str = "opName";

/// The operation that a message names; `None` for a message that is a name itself.
pub(crate) fn operation(message: &str) -> Option<String> {
    match object(message)?.remove(NAME)? {
        Value::String(name) if !name.is_empty() => Some(name),
        _ => None,
    }
}

/// The arguments of a message, sorted by name.
pub(crate) fn arguments(message: &str) -> Vec<(String, String)> {
    let members = object(message).into_iter().flatten();
    let members = members.filter(|(name, _)| name != NAME);
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    members.map(|(name, value)| (name, text(value))).collect()
}

fn object(message: &str) -> Option<Map<String, Value>> {
    let inside = message.trim_start().strip_prefix('{')?.trim_start();
    let plain = match inside.starts_with("\\\"") {
        true => Cow::from(message.replace("\\\"", "\"")),
        false => Cow::from(message),
    };
    serde_json::from_str(&plain).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ESCAPED: &str =
        r#"{\"count\": \"16\",\"dataType\": \"fp32\",\"opName\": \"HcclSend\",\"destRank\": 3}"#;

    #[test]
    fn an_escaped_message_is_an_operation_with_arguments() {
        assert_eq!(operation(ESCAPED).as_deref(), Some("HcclSend"));
        let args = arguments(ESCAPED);
        let args: Vec<_> = args.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(
            args,
            [("count", "16"), ("dataType", "fp32"), ("destRank", "3")]
        );
        let plain = ESCAPED.replace('\\', "");
        assert_eq!(operation(&plain), operation(ESCAPED));
        assert_eq!(arguments(&plain), arguments(ESCAPED));
    }

    #[test]
    fn other_messages_are_names() {
        for name in [
            "forward",
            "",
            "{",
            "{}",
            r#"{"opName": 3}"#,
            r#"{"opName": ""}"#,
            &ESCAPED[..60],
        ] {
            assert_eq!(operation(name), None, "{name}");
        }
    }
}
