//! What a trace says of its own recording: its first chunk.

use chrono::{Local, SecondsFormat};

use ascend_trace_format::session::Timing;
use ascend_trace_model::rows::SessionRow;

use super::Plan;
use crate::collector::clock;

/// How and where this recording is made.
pub(crate) fn session(plan: &Plan) -> SessionRow {
    let wall = Local::now();
    let words = plan
        .words
        .iter()
        .map(|word| word.to_string_lossy().into_owned());
    SessionRow {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: words.collect(),
        host: rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned(),
        architecture: std::env::consts::ARCH.to_owned(),
        timing: match plan.timing {
            Timing::Events => "events".to_owned(),
            Timing::Off => "off".to_owned(),
            Timing::Chained => "chained".to_owned(),
            Timing::Auto => "auto".to_owned(),
            Timing::Sample(step) => format!("sample={step}"),
        },
        runtime: match plan.soft {
            Some(_) => "softacl".to_owned(),
            None => "installed".to_owned(),
        },
        start_time: wall.to_rfc3339_opts(SecondsFormat::Micros, false),
        start_ns: clock::now(),
        start_realtime_ns: wall.timestamp_nanos_opt().unwrap_or(0),
    }
}
