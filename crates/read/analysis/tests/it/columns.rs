//! The document of JSON results has the columns that are declared.

use std::collections::BTreeSet;

use ascend_trace_analysis::checks::{Finding, Severity};
use ascend_trace_analysis::columns::{ColumnKind, TableRow};
use ascend_trace_analysis::communication::{
    CollectiveStats, GroupStats, LinkStats, RankStats, StageStats,
};
use ascend_trace_analysis::critical::{PathShare, Segment, SegmentKind};
use ascend_trace_analysis::memory::{
    HeldMemory, PlaceMemory, PoolMemory, RefusedAllocation, SiteMemory, StepMemory,
};
use ascend_trace_analysis::requests::{HistogramBucket, MeasureStats, RequestStats};
use ascend_trace_analysis::stats::{
    ApiStats, CauseStats, DeviceStats, GraphStats, ModuleStats, OpenCallStats, OperationStats,
    OtherThreadStats, PartStats, RangeStats, StallStats, StepStats, StreamStats, ThreadStats,
    Verdict,
};
use ascend_trace_analysis::{HostLateness, diff};
use schemars::JsonSchema;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/JSON.md");
const END: &str = "<!-- end of columns -->";

/// The tables of the document, by the name in their marker.
fn documented() -> Vec<(&'static str, String)> {
    vec![
        ("operations", table::<OperationStats>()),
        ("parts", table::<PartStats>()),
        ("streams", table::<StreamStats>()),
        ("devices", table::<DeviceStats>()),
        ("threads", table::<ThreadStats>()),
        ("other_threads", table::<OtherThreadStats>()),
        ("apis", table::<ApiStats>()),
        ("stall_causes", table::<CauseStats>()),
        ("worst_stalls", table::<StallStats>()),
        ("late", table::<HostLateness>()),
        ("graphs", table::<GraphStats>()),
        ("open_calls", table::<OpenCallStats>()),
        ("ranges", table::<RangeStats>()),
        ("module_operations", table::<ModuleStats>()),
        ("steps", table::<StepStats>()),
        ("measures", table::<MeasureStats>()),
        ("histogram", table::<HistogramBucket>()),
        ("requests", table::<RequestStats>()),
        ("kinds", table::<PathShare>()),
        ("segments", table::<Segment>()),
        ("rows", table::<diff::DiffRow>()),
        ("findings", table::<Finding>()),
        ("groups", table::<GroupStats>()),
        ("collectives", table::<CollectiveStats>()),
        ("group_ranks", table::<RankStats>()),
        ("links", table::<LinkStats>()),
        ("stages", table::<StageStats>()),
        ("places", table::<PlaceMemory>()),
        ("pools", table::<PoolMemory>()),
        ("held", table::<HeldMemory>()),
        ("refused", table::<RefusedAllocation>()),
        ("step_memory", table::<StepMemory>()),
    ]
}

fn table<R: TableRow>() -> String {
    let mut text = "\n| field | shown as | meaning |\n|---|---|---|\n".to_owned();
    for column in R::columns().filter(|it| !it.key.is_empty() || it.is_in_text) {
        let quoted = |word: &str| match word {
            "" => String::new(),
            word => format!("`{word}`"),
        };
        let (key, title) = (quoted(column.key), quoted(column.title));
        text += &format!("| {key} | {title} | {} |\n", column.meaning);
    }
    text
}

#[test]
fn the_document_has_the_columns_of_every_table() {
    let mut text = std::fs::read_to_string(DOCUMENT).expect("the document exists");
    let before = text.clone();
    for (name, table) in documented() {
        let begin = format!("<!-- columns of {name} -->\n");
        let (head, rest) = text.split_once(&begin).expect("each table has a place");
        let (_, tail) = rest.split_once(END).expect("it says where they end");
        text = format!("{head}{begin}{table}\n{END}{tail}");
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(DOCUMENT, text).expect("the document can be written");
        return;
    }
    assert!(before == text, "UPDATE_EXPECT=1 writes {DOCUMENT} again");
}

fn check<R: TableRow>() {
    let mut keys = BTreeSet::new();
    let mut exported = BTreeSet::new();
    for column in R::columns() {
        let key = column.key;
        assert!(!column.meaning.is_empty(), "{key} {}", column.title);
        assert!(
            key.is_empty() || column.schema.is_some(),
            "{key} has no type in JSON"
        );
        assert!(key.is_empty() || keys.insert(key), "{key} comes twice");
        assert!(
            column.exported.is_none_or(|it| exported.insert(it)),
            "{key}"
        );
        let is_time = matches!(
            column.kind,
            ColumnKind::Duration | ColumnKind::Change | ColumnKind::Moment
        );
        assert!(key.is_empty() || is_time == key.ends_with("_ns"), "{key}");
        let is_seen = column.is_in_text || column.view_from.is_some();
        assert!(!key.is_empty() || is_seen || column.exported.is_some());
    }
}

#[test]
fn columns_have_unique_keys_and_times_have_their_unit() {
    check::<OperationStats>();
    check::<PartStats>();
    check::<StreamStats>();
    check::<DeviceStats>();
    check::<ThreadStats>();
    check::<ApiStats>();
    check::<CauseStats>();
    check::<StallStats>();
    check::<HostLateness>();
    check::<GraphStats>();
    check::<OpenCallStats>();
    check::<RangeStats>();
    check::<ModuleStats>();
    check::<StepStats>();
    check::<MeasureStats>();
    check::<HistogramBucket>();
    check::<RequestStats>();
    check::<PathShare>();
    check::<Segment>();
    check::<diff::DiffRow>();
    check::<Finding>();
    check::<SiteMemory>();
    check::<GroupStats>();
    check::<CollectiveStats>();
    check::<RankStats>();
    check::<LinkStats>();
    check::<PlaceMemory>();
    check::<PoolMemory>();
    check::<HeldMemory>();
    check::<RefusedAllocation>();
    check::<StepMemory>();
}

/// The words that the schema of a type has, and those that documents have.
#[track_caller]
fn has_words<T: JsonSchema>(names: impl IntoIterator<Item = &'static str>) {
    let schema = schemars::schema_for!(T).to_value();
    let enumerated = schema["enum"].as_array().into_iter().flatten();
    let described = schema["oneOf"].as_array().into_iter().flatten();
    let described = described.flat_map(|it| match it["enum"].as_array() {
        Some(words) => words.iter().collect(),
        None => vec![&it["const"]],
    });
    let words: BTreeSet<&str> = enumerated
        .chain(described)
        .map(|it| it.as_str().expect("a word"))
        .collect();
    assert_eq!(words, names.into_iter().collect());
}

#[test]
fn schemas_have_the_words_of_documents() {
    has_words::<Severity>(Severity::ALL.map(Severity::name));
    use Verdict::{CommunicationBound, DataBound, DeviceBound, HostBound};
    let verdicts = [DeviceBound, CommunicationBound, DataBound, HostBound];
    has_words::<Verdict>(verdicts.map(Verdict::name));
    use diff::SubjectKind::{Call, Operation, Part, Stall, Step};
    let subjects = [Step, Part, Operation, Call, Stall];
    has_words::<diff::SubjectKind>(subjects.map(diff::SubjectKind::name));
    use diff::Verdict::{Fewer, Gone, Longer, More, New, Same, Shorter};
    let verdicts = [Same, Longer, Shorter, More, Fewer, New, Gone];
    has_words::<diff::Verdict>(verdicts.map(diff::Verdict::name));
    use SegmentKind as Kind;
    let kinds = [
        Kind::Computing,
        Kind::Communication,
        Kind::Copy,
        Kind::Callback,
        Kind::Event,
        Kind::Call,
        Kind::Program,
        Kind::Handover,
        Kind::Outside,
        Kind::Queue,
        Kind::Launch,
        Kind::Switch,
        Kind::Release,
        Kind::Return,
        Kind::Edge,
    ];
    has_words::<SegmentKind>(kinds.map(SegmentKind::name));
}
