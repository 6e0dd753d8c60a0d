//! The meaning of the names of ranges and marks for requests.

use super::name_template::NameTemplate;
use super::service_messages;

/// Work for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Prefill,
    Decode,
}

/// The meaning of a range or a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignKind {
    /// The request has arrived. A range of this kind lasts until the request is done.
    Arrival,
    /// It is in a queue. A first sign of this kind is its arrival, if no other sign shows it.
    Queued,
    /// The host works for it.
    Execution(Option<Phase>),
    /// A part of its output was sent, or all of it.
    Done,
    /// A mark without a known meaning: before any work for the request its arrival, and after that its end.
    Mark,
}

/// A request in a name, with its phase where the name has a separate one for each request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedRequest {
    pub(super) id: String,
    pub(super) phase: Option<Phase>,
}

/// A range or a mark of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sign {
    pub(super) kind: SignKind,
    pub(super) requests: Vec<NamedRequest>,
    /// Tokens of the output.
    pub(super) tokens: Option<u64>,
    /// Ids of the framework are the same in all processes of a server.
    pub(super) is_of_framework: bool,
}

impl Sign {
    /// The sign in a name that the program gave.
    pub(super) fn of_name(
        name: &str,
        is_mark: bool,
        template: Option<&NameTemplate>,
    ) -> Option<Self> {
        match template {
            Some(template) => Self::of_template(name, is_mark, template),
            None => plain(name),
        }
    }

    fn of_template(name: &str, is_mark: bool, template: &NameTemplate) -> Option<Self> {
        let found = template.fields(name)?;
        let ids = words(found.id?).map(str::to_owned).collect::<Vec<_>>();
        let stated = found.phase.map(str::to_ascii_lowercase);
        let kind = match stated.and_then(|it| kind_of(&it)) {
            Some(kind) => kind,
            None if is_mark => SignKind::Mark,
            None => SignKind::Execution(None),
        };
        (!ids.is_empty()).then(|| Self {
            kind,
            requests: ids.into_iter().map(unphased).collect(),
            tokens: found.tokens.and_then(|it| it.trim().parse().ok()),
            is_of_framework: false,
        })
    }
}

pub(super) fn unphased(id: String) -> NamedRequest {
    NamedRequest { id, phase: None }
}

/// The kind that a word of a name has.
fn kind_of(word: &str) -> Option<SignKind> {
    Some(match word {
        "request" | "req" | "rid" | "request_id" | "arrival" | "arrive" | "arrived" => {
            SignKind::Arrival
        }
        "queued" | "enqueue" | "waiting" => SignKind::Queued,
        "prefill" | "extend" | "context" => SignKind::Execution(Some(Phase::Prefill)),
        "decode" | "generation" => SignKind::Execution(Some(Phase::Decode)),
        "batch" | "forward" | "execute_model" => SignKind::Execution(None),
        "finish" | "finished" | "done" | "response" => SignKind::Done,
        _ => return None,
    })
}

/// The words of a list of ids, or of a name.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |it: char| it.is_whitespace() || ",;:=#()[]{}|".contains(it);
    text.split(is_between).filter(|it| !it.is_empty())
}

/// `prefill 7`, `decode [3, 4, 5]`, `request=a1 tokens=20`: words of a kind, then ids, each of which has a digit. A name
/// with other words names no request.
fn plain(name: &str) -> Option<Sign> {
    if service_messages::is_message(name) {
        return service_messages::sign(name);
    }
    let mut words = words(name).peekable();
    let mut kind = None;
    while let Some(next) = words
        .peek()
        .and_then(|it| kind_of(&it.to_ascii_lowercase()))
    {
        // `prefill request 7` is a prefill.
        kind = match (kind, next) {
            (Some(SignKind::Execution(_)), SignKind::Arrival) => kind,
            _ => Some(next),
        };
        words.next();
    }
    let mut sign = Sign {
        kind: kind?,
        requests: Vec::new(),
        tokens: None,
        is_of_framework: false,
    };
    while let Some(word) = words.next() {
        if word.eq_ignore_ascii_case("tokens") {
            sign.tokens = Some(words.next()?.parse().ok()?);
            continue;
        }
        if kind_of(&word.to_ascii_lowercase()).is_some() && !sign.requests.is_empty() {
            return None;
        }
        if !word.contains(|it: char| it.is_ascii_digit()) {
            return None;
        }
        sign.requests.push(unphased(word.to_owned()));
    }
    (!sign.requests.is_empty()).then_some(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str) -> Option<(SignKind, Vec<String>, Option<u64>)> {
        let sign = Sign::of_name(name, false, None)?;
        let ids = sign.requests.into_iter().map(|it| it.id);
        Some((sign.kind, ids.collect(), sign.tokens))
    }

    #[test]
    fn names_of_requests() {
        use Phase::{Decode, Prefill};
        use SignKind::{Arrival, Done, Execution, Queued};
        let cases: [(&str, SignKind, &[&str], Option<u64>); 9] = [
            ("request 7", Arrival, &["7"], None),
            ("request=chatcmpl-4f", Arrival, &["chatcmpl-4f"], None),
            ("queued 7", Queued, &["7"], None),
            ("Prefill 7", Execution(Some(Prefill)), &["7"], None),
            ("prefill request 7", Execution(Some(Prefill)), &["7"], None),
            (
                "decode [3, 4,5]",
                Execution(Some(Decode)),
                &["3", "4", "5"],
                None,
            ),
            ("batch 3 4", Execution(None), &["3", "4"], None),
            ("done 7 tokens=20", Done, &["7"], Some(20)),
            ("finish: #7", Done, &["7"], None),
        ];
        for (name, kind, ids, tokens) in cases {
            let ids = ids.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(found(name), Some((kind, ids, tokens)), "{name}");
        }
    }

    #[test]
    fn other_names_are_of_no_request() {
        for name in [
            "decode layer 3",
            "request handler",
            "step 7",
            "prefill",
            "",
            "7",
            "done 7 tokens=many",
        ] {
            assert_eq!(found(name), None, "{name}");
        }
    }

    #[test]
    fn a_template_gives_ids_phase_and_tokens() {
        let template = NameTemplate::parse("work({id}) {phase}").unwrap();
        let sign = Sign::of_name("work(a, b) decode", false, Some(&template)).unwrap();
        assert_eq!(sign.kind, SignKind::Execution(Some(Phase::Decode)));
        assert_eq!(sign.requests.len(), 2);
        assert_eq!(Sign::of_name("prefill 7", false, Some(&template)), None);
        let template = NameTemplate::parse("come {id}").unwrap();
        let sign = Sign::of_name("come x", true, Some(&template)).unwrap();
        assert_eq!(sign.kind, SignKind::Mark);
    }
}
