//! A recording as one HTML file that needs no network.
//!
//! [`Page`] takes the JSON documents of the commands, cuts them to a size, and puts them into a page. The script of the
//! page (`page/*.js`) makes tables and charts of them, so every number has one source. No text of a recording becomes
//! markup: it is JSON in the file, and the script puts it into text nodes only.

mod bounded;
mod memory;
mod page;
mod peer_waits;
mod step_series;
mod timeline;

pub use memory::{MemoryCurves, MemoryFold};
pub use page::{MOST_BYTES, Page};
pub use peer_waits::{PeerWait, PeerWaits};
pub use step_series::{StepSeries, slowest};
pub use timeline::{Timeline, TimelineFold};
