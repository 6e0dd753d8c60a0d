//! The `SOFTACL` option list: `key=value` pairs separated by commas.

use crate::chip::Chip;

/// A call that is made to fail: `fail=aclrtMalloc:3:207001` fails the third `aclrtMalloc`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InjectedFailure {
    pub function: String,
    pub nth: u64,
    /// The code that the call returns instead.
    pub code: i32,
}

/// Behaviour of the driver when a clock is queried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriverClock {
    Tells,
    /// It is too old to know the question.
    Unsupported,
    /// It cannot reach the device.
    Fails,
}

/// Which of the tasks that could run next does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskOrder {
    /// That of their times: each as soon as it can.
    Times,
    /// An allowed one that is hostile to programs in which a dependency is missing.
    Adversarial,
}

/// Behaviour of msPTI towards a profiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MsptiMode {
    /// Every kind is granted but communication under its old name.
    Grants,
    /// Copies and fills are reported as well, if the library was preloaded.
    Preload,
    /// Another profiler has subscribed.
    Busy,
    /// The device's log cannot be reached.
    Offline,
    /// No kind of records is granted any more.
    Full,
    /// It fails by itself.
    Broken,
}

/// Everything that the list says, with the chip's own values where it says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub chip: Chip,
    pub devices: u32,
    /// One value per device; devices beyond the list use its last value.
    pub clock_offset_ns: Vec<i64>,
    /// Parts per 10^12, one value per device like the offsets.
    pub drift_ppt: Vec<i64>,
    /// The device clock's tick, unless it is the chip's.
    pub tick_ns: Option<u64>,
    pub submit_ns: u64,
    pub events: u32,
    pub streams: u32,
    pub notifies: u32,
    pub queue: u32,
    pub memory: u64,
    pub copy_ns: u64,
    pub h2d_mbps: u64,
    pub d2h_mbps: u64,
    pub d2d_mbps: u64,
    /// Fixed part of a collective, and the bandwidth of the link between two devices.
    pub hccl_ns: u64,
    pub hccl_mbps: u64,
    pub memset_ns: u64,
    pub memset_mbps: u64,
    pub launch_ns: u64,
    /// Device time of an event record, and its largest random addition.
    pub record_ns: u64,
    pub record_jitter_ns: u64,
    /// Half of the records take about this much longer, one of ten more than five times as much, and none more than
    /// 19 times as much.
    pub record_tail_ns: u64,
    /// The time from one task of a stream to the next, and the largest addition to it.
    pub switch_ns: u64,
    pub switch_jitter_ns: u64,
    /// The same between a record and the task before it or after it.
    pub turn_ns: u64,
    pub turn_jitter_ns: u64,
    /// Time in which the runtime learns of completion when an event asked for a completion entry.
    pub completion_ns: u64,
    /// What reading one event's time takes the thread that synchronises, on chips without STARS.
    pub readback_ns: u64,
    /// A submission makes the runtime look after this number of tasks of a stream; 0 is never.
    pub recycle_every: u64,
    /// How long a query of an event lasts.
    pub query_ns: u64,
    /// Behaviour of the driver when a clock is queried.
    pub driver: DriverClock,
    /// Duration of such a query, and its largest random addition. The counter is read at any time
    /// within it.
    pub driver_ns: u64,
    pub driver_jitter_ns: u64,
    /// How long the destruction of a graph waits for its last replay.
    pub graph_wait_ms: u64,
    /// Behaviour of msPTI towards a profiler.
    pub mspti: MsptiMode,
    /// How long its records take to come.
    pub mspti_late_ms: u64,
    /// Every Nth record is lost, or has no times; 0 is never.
    pub mspti_drop: u64,
    pub mspti_zero: u64,
    /// Records of one buffer come stream by stream, the last stream first.
    pub mspti_shuffle: bool,
    /// By how much its comparison of clocks is off.
    pub mspti_anchor_ns: i64,
    /// Number of kernels of an operator, for msPTI.
    pub mspti_kernels: u32,
    /// Each kernel has a different number, instead of that of the call that submitted it.
    pub mspti_own_numbers: bool,
    /// By how much a task may last longer or shorter, in parts per million, and which run it is.
    pub noise_ppm: u64,
    pub noise_seed: u64,
    /// In which order tasks of different streams run; `noise_seed` says which one.
    pub order: TaskOrder,
    /// Longest delay of tasks without a known waiter.
    pub order_patience_ms: u64,
    /// Time is virtual, and a call takes this much of it; 0 is the host's time.
    pub virtual_ns: u64,
    /// The same for a call that submits a task, if it differs.
    pub virtual_submit_ns: Option<u64>,
    pub fail: Vec<InjectedFailure>,
    /// The driver can apply changes to a complete graph.
    pub graph_updates: bool,
    pub strict: bool,
    /// Ends the process when a tracer meddles with the program.
    pub catch: bool,
    pub verbose: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self::of(Chip::A910b)
    }
}

impl Options {
    /// Defaults of a chip.
    const fn of(chip: Chip) -> Self {
        Self {
            chip,
            devices: 2,
            clock_offset_ns: Vec::new(),
            drift_ppt: Vec::new(),
            tick_ns: None,
            submit_ns: 3000,
            events: chip.events(),
            streams: chip.streams(),
            notifies: chip.notifies(),
            queue: chip.queue(),
            memory: 64 << 30,
            copy_ns: 1500,
            h2d_mbps: 24_000,
            d2h_mbps: 22_000,
            d2d_mbps: 400_000,
            hccl_ns: 15_000,
            hccl_mbps: 180_000,
            memset_ns: 1000,
            memset_mbps: 400_000,
            launch_ns: 2000,
            record_ns: 0,
            record_jitter_ns: 0,
            record_tail_ns: 0,
            switch_ns: 0,
            switch_jitter_ns: 0,
            turn_ns: 0,
            turn_jitter_ns: 0,
            completion_ns: 0,
            readback_ns: 0,
            recycle_every: 0,
            query_ns: 0,
            driver: DriverClock::Tells,
            driver_ns: 0,
            driver_jitter_ns: 0,
            graph_wait_ms: 10_000,
            mspti: MsptiMode::Grants,
            mspti_late_ms: 0,
            mspti_drop: 0,
            mspti_zero: 0,
            mspti_shuffle: false,
            mspti_anchor_ns: 0,
            mspti_kernels: 1,
            mspti_own_numbers: false,
            noise_ppm: 0,
            noise_seed: 0,
            order: TaskOrder::Times,
            order_patience_ms: 50,
            virtual_ns: 0,
            virtual_submit_ns: None,
            fail: Vec::new(),
            graph_updates: false,
            strict: false,
            catch: false,
            verbose: false,
        }
    }
}

/// Every key, in the order in which an error message and docs/SOFTACL.md name them.
pub const KEYS: [&str; 54] = [
    "chip",
    "devices",
    "clock_offset_ns",
    "drift_ppm",
    "tick_ns",
    "submit_ns",
    "events",
    "streams",
    "notifies",
    "queue",
    "memory",
    "copy_ns",
    "h2d_mbps",
    "d2h_mbps",
    "d2d_mbps",
    "hccl_ns",
    "hccl_mbps",
    "memset_ns",
    "memset_mbps",
    "launch_ns",
    "record_ns",
    "record_jitter_ns",
    "record_tail_ns",
    "switch_ns",
    "switch_jitter_ns",
    "turn_ns",
    "turn_jitter_ns",
    "completion_ns",
    "readback_ns",
    "recycle_every",
    "query_ns",
    "driver",
    "driver_ns",
    "driver_jitter_ns",
    "graph_wait_ms",
    "mspti",
    "mspti_late_ms",
    "mspti_drop",
    "mspti_zero",
    "mspti_shuffle",
    "mspti_anchor_ns",
    "mspti_kernels",
    "mspti_own_numbers",
    "noise_ppm",
    "noise_seed",
    "order",
    "order_patience_ms",
    "virtual_ns",
    "virtual_submit_ns",
    "fail",
    "graph_updates",
    "strict",
    "catch",
    "verbose",
];

impl Options {
    /// Reads a list such as `devices=4,tick_ns=1,verbose`. An empty list is valid.
    ///
    /// # Errors
    /// Names the unknown option and the known ones, or the value that an option cannot have.
    pub fn parse(list: &str) -> Result<Self, String> {
        let items = list.split(',').map(str::trim);
        let items = items.filter(|item| !item.is_empty()).map(|item| {
            let (key, value) = item
                .split_once('=')
                .map_or((item, None), |(k, v)| (k, Some(v)));
            (key.trim(), value.map(str::trim))
        });
        // Other options hold for any chip, at any place of the chip in the list.
        let mut options = Self::default();
        for (_, value) in items.clone().filter(|&(key, _)| key == "chip") {
            options = Self::of(chip(value)?);
        }
        for (key, value) in items {
            options.set(key, value)?;
        }
        Ok(options)
    }

    fn set(&mut self, key: &str, value: Option<&str>) -> Result<(), String> {
        match key {
            "chip" => self.chip = chip(value)?,
            "devices" => self.devices = number(key, value, 1, 64)?,
            "clock_offset_ns" => self.clock_offset_ns = list(key, value, whole)?,
            "drift_ppm" => self.drift_ppt = list(key, value, ppm)?,
            "tick_ns" => self.tick_ns = Some(number(key, value, 1, 1_000_000_000)?),
            "submit_ns" => self.submit_ns = number(key, value, 0, 10_000_000_000)?,
            "events" => self.events = number(key, value, 1, 1 << 19)?,
            "streams" => self.streams = number(key, value, 1, 1 << 16)?,
            "notifies" => self.notifies = number(key, value, 1, 1 << 19)?,
            "queue" => self.queue = number(key, value, 1, 1 << 20)?,
            "memory" => self.memory = number(key, value, 1 << 20, 1 << 40)?,
            "copy_ns" => self.copy_ns = number(key, value, 0, 10_000_000_000)?,
            "h2d_mbps" => self.h2d_mbps = number(key, value, 1, 1 << 40)?,
            "d2h_mbps" => self.d2h_mbps = number(key, value, 1, 1 << 40)?,
            "d2d_mbps" => self.d2d_mbps = number(key, value, 1, 1 << 40)?,
            "hccl_ns" => self.hccl_ns = number(key, value, 0, 10_000_000_000)?,
            "hccl_mbps" => self.hccl_mbps = number(key, value, 1, 1 << 40)?,
            "memset_ns" => self.memset_ns = number(key, value, 0, 10_000_000_000)?,
            "memset_mbps" => self.memset_mbps = number(key, value, 1, 1 << 40)?,
            "launch_ns" => self.launch_ns = number(key, value, 0, 10_000_000_000)?,
            "record_ns" => self.record_ns = number(key, value, 0, 10_000_000_000)?,
            "record_jitter_ns" => self.record_jitter_ns = number(key, value, 0, 10_000_000_000)?,
            "record_tail_ns" => self.record_tail_ns = number(key, value, 0, 10_000_000)?,
            "switch_ns" => self.switch_ns = number(key, value, 0, 10_000_000_000)?,
            "switch_jitter_ns" => self.switch_jitter_ns = number(key, value, 0, 10_000_000_000)?,
            "turn_ns" => self.turn_ns = number(key, value, 0, 10_000_000_000)?,
            "turn_jitter_ns" => self.turn_jitter_ns = number(key, value, 0, 10_000_000_000)?,
            "completion_ns" => self.completion_ns = number(key, value, 0, 10_000_000_000)?,
            "readback_ns" => self.readback_ns = number(key, value, 0, 10_000_000_000)?,
            "recycle_every" => self.recycle_every = number(key, value, 0, 1 << 20)?,
            "query_ns" => self.query_ns = number(key, value, 0, 10_000_000_000)?,
            "driver" => self.driver = driver(value)?,
            "driver_ns" => self.driver_ns = number(key, value, 0, 10_000_000_000)?,
            "driver_jitter_ns" => self.driver_jitter_ns = number(key, value, 0, 10_000_000_000)?,
            "graph_wait_ms" => self.graph_wait_ms = number(key, value, 1, 3_600_000)?,
            "mspti" => self.mspti = mspti(value)?,
            "mspti_late_ms" => self.mspti_late_ms = number(key, value, 0, 3_600_000)?,
            "mspti_drop" => self.mspti_drop = number(key, value, 0, 1 << 40)?,
            "mspti_zero" => self.mspti_zero = number(key, value, 0, 1 << 40)?,
            "mspti_shuffle" => self.mspti_shuffle = switch(key, value)?,
            "mspti_anchor_ns" => self.mspti_anchor_ns = signed(key, value)?,
            "mspti_kernels" => self.mspti_kernels = number(key, value, 1, 64)?,
            "mspti_own_numbers" => self.mspti_own_numbers = switch(key, value)?,
            "noise_ppm" => self.noise_ppm = number(key, value, 0, 1_000_000)?,
            "noise_seed" => self.noise_seed = number(key, value, 0, u64::MAX)?,
            "order" => self.order = order(value)?,
            "order_patience_ms" => self.order_patience_ms = number(key, value, 1, 3_600_000)?,
            "virtual_ns" => self.virtual_ns = number(key, value, 0, 1_000_000_000)?,
            "virtual_submit_ns" => {
                self.virtual_submit_ns = Some(number(key, value, 0, 1_000_000_000)?);
            }
            "fail" => self.fail = list(key, value, failure)?,
            "graph_updates" => self.graph_updates = switch(key, value)?,
            "strict" => self.strict = switch(key, value)?,
            "catch" => self.catch = switch(key, value)?,
            "verbose" => self.verbose = switch(key, value)?,
            _ => {
                return Err(format!(
                    "unknown option `{key}`; known are {}",
                    KEYS.join(", ")
                ));
            }
        }
        Ok(())
    }
}

/// The value for one device out of a per-device list.
pub fn for_device(values: &[i64], device: usize) -> i64 {
    values.get(device).or(values.last()).copied().unwrap_or(0)
}

fn chip(value: Option<&str>) -> Result<Chip, String> {
    value.and_then(Chip::named).ok_or_else(|| {
        let names: Vec<&str> = Chip::NAMES.iter().map(|&(name, _)| name).collect();
        let given = value.unwrap_or("nothing");
        format!("option `chip` is one of {}, not {given}", names.join(", "))
    })
}

fn driver(value: Option<&str>) -> Result<DriverClock, String> {
    match value {
        Some("tells") => Ok(DriverClock::Tells),
        Some("unsupported") => Ok(DriverClock::Unsupported),
        Some("fails") => Ok(DriverClock::Fails),
        other => {
            let given = other.unwrap_or("nothing");
            Err(format!(
                "option `driver` is one of tells, unsupported, fails, not {given}"
            ))
        }
    }
}

fn order(value: Option<&str>) -> Result<TaskOrder, String> {
    match value {
        Some("times") => Ok(TaskOrder::Times),
        Some("adversarial") => Ok(TaskOrder::Adversarial),
        given => Err(format!(
            "option `order` is times or adversarial, not {}",
            given.unwrap_or("nothing")
        )),
    }
}

fn mspti(value: Option<&str>) -> Result<MsptiMode, String> {
    match value {
        Some("grants") => Ok(MsptiMode::Grants),
        Some("preload") => Ok(MsptiMode::Preload),
        Some("busy") => Ok(MsptiMode::Busy),
        Some("offline") => Ok(MsptiMode::Offline),
        Some("full") => Ok(MsptiMode::Full),
        Some("broken") => Ok(MsptiMode::Broken),
        given => Err(format!(
            "option `mspti` is grants, preload, busy, offline, full or broken, not {}",
            given.unwrap_or("nothing")
        )),
    }
}

/// A whole number that may be negative.
fn signed(key: &str, value: Option<&str>) -> Result<i64, String> {
    let number = value.and_then(whole);
    let given = value.unwrap_or("nothing");
    number.ok_or_else(|| format!("option `{key}` needs a whole number, not {given}"))
}

fn number<T: TryFrom<u64>>(
    key: &str,
    value: Option<&str>,
    least: u64,
    most: u64,
) -> Result<T, String> {
    value
        .and_then(|text| text.parse::<u64>().ok())
        .filter(|number| (least..=most).contains(number))
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| {
            let given = value.unwrap_or("nothing");
            format!("option `{key}` needs a whole number from {least} to {most}, not {given}")
        })
}

fn switch(key: &str, value: Option<&str>) -> Result<bool, String> {
    match value {
        None | Some("1" | "true" | "on" | "yes") => Ok(true),
        Some("0" | "false" | "off" | "no") => Ok(false),
        Some(other) => Err(format!("option `{key}` is on or off, not {other}")),
    }
}

/// A list separated by slashes, since commas separate the options.
fn list<T>(key: &str, value: Option<&str>, item: fn(&str) -> Option<T>) -> Result<Vec<T>, String> {
    let text = value.unwrap_or("");
    let items: Option<Vec<T>> = text.split('/').map(item).collect();
    items.ok_or_else(|| format!("option `{key}` cannot be `{text}`"))
}

fn whole(text: &str) -> Option<i64> {
    text.parse()
        .ok()
        .filter(|value: &i64| value.unsigned_abs() < 1 << 60)
}

fn ppm(text: &str) -> Option<i64> {
    let value: f64 = text.parse().ok()?;
    (value.abs() <= 100_000.0).then(|| (value * 1e6).round() as i64)
}

fn failure(text: &str) -> Option<InjectedFailure> {
    let mut parts = text.split(':');
    let function = parts.next().filter(|name| !name.is_empty())?.to_owned();
    let nth = parts.next()?.parse().ok().filter(|&nth| nth > 0)?;
    let code = parts.next()?.parse().ok().filter(|&code| code != 0)?;
    parts.next().is_none().then_some(InjectedFailure {
        function,
        nth,
        code,
    })
}

#[cfg(test)]
mod tests {
    use super::{KEYS, Options, for_device};

    #[test]
    fn an_empty_list_gives_the_documented_defaults() {
        let options = Options::parse("").unwrap();
        assert_eq!(
            (options.devices, options.tick_ns, options.submit_ns),
            (2, None, 3000)
        );
        assert_eq!(
            (options.queue, options.streams, options.events),
            (2047, 1984, 65_536)
        );
    }

    #[test]
    fn values_switches_and_lists_are_read() {
        let text = "devices=4, strict,verbose=0,drift_ppm=12.5/-3,clock_offset_ns=-7/8";
        let options = Options::parse(text).unwrap();
        assert_eq!(options.devices, 4);
        assert!(options.strict && !options.verbose);
        assert_eq!(options.drift_ppt, [12_500_000, -3_000_000]);
        assert_eq!(for_device(&options.clock_offset_ns, 0), -7);
        assert_eq!(for_device(&options.clock_offset_ns, 5), 8);
    }

    #[test]
    fn a_chip_sets_its_limits_and_options_override_them() {
        let options = Options::parse("queue=7,chip=310p").unwrap();
        assert_eq!((options.queue, options.events), (7, 1023));
        assert_eq!(Options::parse("chip=310p").unwrap().queue, 1024);
        let message = Options::parse("chip=h100").unwrap_err();
        assert!(message.contains("910_93") && message.contains("h100"));
    }

    #[test]
    fn an_unknown_key_names_every_known_one() {
        let message = Options::parse("ticks=1").unwrap_err();
        assert!(message.contains("`ticks`"));
        for key in KEYS {
            assert!(message.contains(key), "{key} is not named in: {message}");
        }
    }

    #[test]
    fn every_named_key_is_accepted_and_bad_values_are_not() {
        for key in KEYS {
            let value = match key {
                "fail" => "aclrtMalloc:2:207001",
                "memory" => "2000000",
                "chip" => "310p",
                "driver" => "fails",
                "mspti" => "busy",
                "order" => "adversarial",
                _ => "1",
            };
            assert!(Options::parse(&format!("{key}={value}")).is_ok(), "{key}");
            assert!(Options::parse(&format!("{key}=?")).is_err(), "{key}");
        }
        for text in [
            "devices=0",
            "tick_ns=0",
            "queue",
            "fail=x:0:1",
            "fail=x:1:0",
            "fail=a",
        ] {
            assert!(Options::parse(text).is_err(), "{text}");
        }
    }
}
