//! `demo`: record and show a bundled program on the software runtime.

use ascend_trace_format::filter::Filters;
use ascend_trace_format::session::Timing;

use super::args::DemoArgs;
use super::record::{exit_code, is_live, named_target};
use crate::error::{Failure, OrStatus, TOOL_FAILED};
use crate::output::print;
use crate::recorder::window::WindowOptions;
use crate::recorder::{self, RecordOptions};
use crate::text_table::TableRows;
use crate::unpack::{self, ClientReports};
use ascend_trace_collector::session::BUDGET;
use ascend_trace_collector::target::TraceTarget;

struct DemoProgram {
    name: &'static str,
    shows: &'static str,
    /// Rounds of work that take about three seconds on the slow device.
    rounds: u32,
}

const DEMOS: [DemoProgram; 4] = [
    DemoProgram {
        name: "overlap",
        shows: "copies in, work and copies out on three streams, tied by events",
        rounds: 40,
    },
    DemoProgram {
        name: "pipeline",
        shows: "four streams: one feeds two, and the last waits for both",
        rounds: 28,
    },
    DemoProgram {
        name: "stall",
        shows: "a program that waits too often, and what each wait costs",
        rounds: 20,
    },
    DemoProgram {
        name: "transformer",
        shows: "operators by name, copies next to them, graphs, named steps, and a host that lingers",
        rounds: 160,
    },
];

/// A device that is so slow that a person can watch its tasks run.
const SLOW_DEVICE: &str = "devices=1,h2d_mbps=30,d2h_mbps=25,d2d_mbps=16,memset_mbps=100";
/// Device for a demo without the live view.
const DEVICE: &str = "devices=1,h2d_mbps=2000,d2h_mbps=1600,d2d_mbps=1000,memset_mbps=4000";

pub(crate) fn run(args: &DemoArgs) -> Result<u8, Failure> {
    if args.list {
        return print(&list()).map(|()| 0).or_status(TOOL_FAILED);
    }
    let name = args.name.as_deref().unwrap_or(DEMOS[0].name);
    let Some(demo) = DEMOS.iter().find(|demo| demo.name == name) else {
        let names = DEMOS.map(|demo| demo.name).join(", ");
        let text = format!("there is no demo {name}; there are {names}");
        return Err(Failure::new(TOOL_FAILED, text));
    };
    let live = is_live(&args.output)?;
    let program = unpack::demo().or_status(TOOL_FAILED)?;
    let plan = RecordOptions {
        words: vec![
            program.into(),
            demo.name.into(),
            demo.rounds.to_string().into(),
        ],
        target: named_target(&args.output.file).unwrap_or_else(|| TraceTarget::Default {
            name: format!("demo-{}", demo.name),
        }),
        live,
        timing: Timing::Auto,
        budget: 0,
        buffer: BUDGET,
        wait: false,
        engine: None,
        reports: ClientReports::default(),
        python: false,
        stacks: 0,
        watchdog: None,
        metrics: None,
        window: WindowOptions::default(),
        filters: Filters::NONE,
        ring: None,
        roll: None,
        continues: None,
        soft: Some(if live { SLOW_DEVICE } else { DEVICE }.to_owned()),
    };
    let recorded = recorder::record(&plan)?;
    Ok(exit_code(recorded.status))
}

fn list() -> String {
    let rows = TableRows::of(&DEMOS).left("demo", |it| it.name);
    rows.left("shows", |it| it.shows).table().render(0)
}
