//! Requests that control the recording by HTTP, with the orders and replies of `ctl`: `POST /control/snapshot?reason=TEXT`.

use crate::control::protocol::{Order, Reply};

/// Where requests of control are, before the name of their command.
pub(super) const PATH: &str = "/control/";

/// Why a request is no order.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoOrder {
    /// There is no such command.
    Unknown,
    /// The command needs this method.
    Method(&'static str),
    /// The text that the command needs is missing.
    Text,
}

/// The order of a request for `target`, which begins with [`PATH`].
pub(super) fn order(method: &str, target: &str) -> Result<Order, NoOrder> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let command = path.strip_prefix(PATH).ok_or(NoOrder::Unknown)?;
    let text = |name: &str| {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        pairs
            .find_map(|(key, value)| (key == name).then_some(value))
            .filter(|value| !value.trim().is_empty())
            .map(String::from)
    };
    let (order, needed) = match command {
        "status" => (Some(Order::Status), "GET"),
        "pause" => (Some(Order::Pause), "POST"),
        "resume" => (Some(Order::Resume), "POST"),
        "stop" => (Some(Order::Stop), "POST"),
        "timing" => (text("mode").map(|mode| Order::Timing { mode }), "POST"),
        "budget" => {
            let percent = text("percent");
            (percent.map(|percent| Order::Budget { percent }), "POST")
        }
        "mark" => (text("text").map(|text| Order::Mark { text }), "POST"),
        "snapshot" => {
            let reason = text("reason").or_else(|| Some("http".to_owned()));
            (
                Some(Order::Snapshot {
                    reason,
                    group: None,
                }),
                "POST",
            )
        }
        _ => return Err(NoOrder::Unknown),
    };
    if method != needed {
        return Err(NoOrder::Method(needed));
    }
    order.ok_or(NoOrder::Text)
}

/// The text of a reply: one line of JSON.
pub(super) fn text_of(reply: &Reply) -> String {
    // The fields of a reply always have a text.
    serde_json::to_string(reply).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_those_of_the_socket() {
        let mark = Order::Mark {
            text: "new weights: 50 %".to_owned(),
        };
        let target = "/control/mark?text=new+weights%3A%2050%20%25";
        assert_eq!(order("POST", target), Ok(mark));
        let snapshot = |reason: &str| {
            Ok(Order::Snapshot {
                reason: Some(reason.to_owned()),
                group: None,
            })
        };
        let target = "/control/snapshot?a=b&reason=slow";
        assert_eq!(order("POST", target), snapshot("slow"));
        assert_eq!(order("POST", "/control/snapshot"), snapshot("http"));
        assert_eq!(order("GET", "/control/status"), Ok(Order::Status));
        assert_eq!(order("POST", "/control/resume"), Ok(Order::Resume));
        assert_eq!(order("POST", "/control/stop"), Ok(Order::Stop));
    }

    #[test]
    fn a_request_that_changes_something_is_a_post() {
        for command in ["pause", "resume", "stop", "mark?text=a", "snapshot"] {
            let target = format!("/control/{command}");
            assert_eq!(order("GET", &target), Err(NoOrder::Method("POST")));
        }
        let wrong = order("POST", "/control/status");
        assert_eq!(wrong, Err(NoOrder::Method("GET")));
        assert_eq!(order("POST", "/control/mark"), Err(NoOrder::Text));
        assert_eq!(order("POST", "/control/mark?text=+"), Err(NoOrder::Text));
        for other in ["/control/", "/control/explode", "/control/pause/now"] {
            assert_eq!(order("POST", other), Err(NoOrder::Unknown), "{other}");
        }
    }
}
