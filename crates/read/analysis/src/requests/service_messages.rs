//! Messages of the MS Service Profiler, which patches vLLM and SGLang on Ascend: members of a JSON object, with `^` in
//! place of quotes. A message of more than 128 bytes, and each message of a span, comes in marks `span=HANDLE*PART`.

use serde_json::{Map, Value};

use super::signs::{NamedRequest, Phase, Sign, SignKind};

/// The begin of a mark with a part of a message.
const PART: &str = "span=";

/// The part of a message in a mark, and the handle of its span.
pub(super) fn part(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix(PART)?.split_once('*')
}

/// Whether a text is a message.
pub(super) fn is_message(text: &str) -> bool {
    text.contains("^name^:") || text.contains("\"name\":") || text.contains("^type^:")
}

/// Type of a message: a span has a begin and an end.
const SPAN: u64 = 2;

fn members(text: &str) -> Option<Map<String, Value>> {
    let text = text.replace('^', "\"");
    let inside = text.trim().trim_end_matches(',');
    let object = match inside.starts_with('{') {
        true => inside.to_owned(),
        false => format!("{{{inside}}}"),
    };
    serde_json::from_str(&object).ok()
}

/// Whether a message is of a span, and the name of the span.
pub(super) fn span_name(text: &str) -> Option<String> {
    let members = members(text)?;
    let is_span = members.get("type").and_then(Value::as_u64) == Some(SPAN);
    let name = members.get("name").and_then(Value::as_str)?;
    is_span.then(|| name.to_owned())
}

/// The sign in a message.
pub(super) fn sign(text: &str) -> Option<Sign> {
    let members = members(text)?;
    let kind = match members.get("name").and_then(Value::as_str)? {
        "httpReq" => SignKind::Arrival,
        "recvReq" | "Enqueue" => SignKind::Queued,
        "modelExec" | "modelRunnerExec" | "forward" => {
            let batch = members.get("batch_type").and_then(Value::as_str);
            SignKind::Execution(batch.and_then(phase))
        }
        "httpRes" | "DecodeEnd" | "PrefillEnd" => SignKind::Done,
        _ => return None,
    };
    let requests = match members.get("rid")? {
        Value::Array(all) => all.iter().filter_map(request).collect(),
        one => request(one).into_iter().collect::<Vec<_>>(),
    };
    // A metric has `=` after its name.
    let tokens = members.get("replyTokenSize=").and_then(Value::as_u64);
    (!requests.is_empty()).then_some(Sign {
        kind,
        requests,
        tokens,
        is_of_framework: true,
    })
}

/// The phase of a batch; unknown for one with both.
fn phase(batch: &str) -> Option<Phase> {
    match batch.to_ascii_lowercase().as_str() {
        "prefill" => Some(Phase::Prefill),
        "decode" => Some(Phase::Decode),
        _ => None,
    }
}

/// A request: its id, or an object with the number of the iteration as well.
fn request(value: &Value) -> Option<NamedRequest> {
    let (id, phase) = match value {
        Value::Object(members) => {
            let iteration = members.get("iter_size").and_then(Value::as_u64);
            let phase = iteration.map(|it| match it {
                0 => Phase::Prefill,
                _ => Phase::Decode,
            });
            (members.get("rid")?, phase)
        }
        id => (id, None),
    };
    let id = match id {
        Value::String(id) => id.clone(),
        Value::Number(id) => id.to_string(),
        _ => return None,
    };
    (!id.is_empty()).then_some(NamedRequest { id, phase })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_requests_phase_and_tokens() {
        let arrival = sign("^domain^:^Request^,^rid^:^a-1^,^name^:^httpReq^,^type^:0,").unwrap();
        assert_eq!(arrival.kind, SignKind::Arrival);
        assert_eq!(arrival.requests[0].id, "a-1");
        let batch = "^domain^:^Execute^,^rid^:[{^rid^:^a^,^iter_size^:0},{^rid^:^b^,^iter_size^:3}],\
                     ^batch_type^:^Prefill,Decode^,^name^:^modelExec^,^type^:2,";
        assert_eq!(span_name(batch).as_deref(), Some("modelExec"));
        let found = sign(batch).unwrap();
        assert_eq!(found.kind, SignKind::Execution(None));
        let phases = found.requests.iter().map(|it| it.phase).collect::<Vec<_>>();
        assert_eq!(phases, [Some(Phase::Prefill), Some(Phase::Decode)]);
        let done = sign("^rid^:7,^replyTokenSize=^:20,^name^:^httpRes^,^type^:0,").unwrap();
        assert_eq!((done.kind, done.tokens), (SignKind::Done, Some(20)));
        let batch = sign("^name^:^modelExec^,^type^:2,^rid^:[^a^],^batch_type^:^decode^,").unwrap();
        assert_eq!(batch.kind, SignKind::Execution(Some(Phase::Decode)));
    }

    #[test]
    fn other_messages_are_no_signs() {
        for text in [
            "^domain^:^KVCache^,^rid^:^a^,^name^:^allocate^,^type^:0,",
            "^domain^:^Request^,^name^:^httpReq^,^type^:0,",
            "^name^:^httpReq^,^rid^:^a",
        ] {
            assert_eq!(sign(text), None, "{text}");
        }
        assert_eq!(span_name("^name^:^httpReq^,^type^:0,"), None);
        assert_eq!(part("span=12*^name^"), Some(("12", "^name^")));
    }
}
