//! `op_statistic.csv` and `api_statistic.csv`: sums of tasks by type, and of calls by function.

use std::collections::BTreeMap;
use std::io::{self, Write};

use ascend_trace_recording::{FunctionId, Trace};
use rustc_hash::FxHashMap;

use super::operands::UNKNOWN;
use super::timing::micros;

const OPERATORS: &str = "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)";
const FUNCTIONS: &str = "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance";

/// The readers' word for the interface of the recorded calls.
pub(super) const LEVEL: &str = "AscendCL";

/// Durations of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct DurationSum {
    count: u64,
    total: i64,
    min: i64,
    max: i64,
    /// Of squares, in microseconds.
    squares: f64,
}

impl DurationSum {
    fn add(&mut self, ns: i64) {
        self.min = match self.count {
            0 => ns,
            _ => self.min.min(ns),
        };
        self.max = self.max.max(ns);
        self.count += 1;
        self.total += ns;
        self.squares += (ns as f64 / 1e3).powi(2);
    }

    /// In microseconds.
    fn mean(&self) -> f64 {
        self.total as f64 / 1e3 / self.count.max(1) as f64
    }

    fn variance(&self) -> f64 {
        let mean = self.mean();
        (self.squares / self.count.max(1) as f64 - mean * mean).max(0.0)
    }
}

/// Sums of a rank.
#[derive(Debug, Default)]
pub(super) struct RankStatistics {
    /// By device, and by type.
    operators: BTreeMap<u32, FxHashMap<String, (&'static str, DurationSum)>>,
    /// By function.
    functions: Vec<DurationSum>,
}

impl RankStatistics {
    pub(super) fn operator(&mut self, device: u32, name: &str, core: &'static str, ns: i64) {
        let operators = self.operators.entry(device).or_default();
        match operators.get_mut(name) {
            Some((_, sum)) => sum.add(ns),
            None => {
                let new = operators.entry(name.to_owned());
                new.or_insert((core, DurationSum::default())).1.add(ns);
            }
        }
    }

    pub(super) fn call(&mut self, function: FunctionId, ns: i64) {
        let place = function.index();
        if place >= self.functions.len() {
            self.functions.resize(place + 1, DurationSum::default());
        }
        if let Some(sum) = self.functions.get_mut(place) {
            sum.add(ns);
        }
    }

    pub(super) fn write_operators(&self, to: &mut dyn Write) -> io::Result<()> {
        writeln!(to, "{OPERATORS}")?;
        let rows = self.operators.iter().flat_map(|(device, operators)| {
            let mut rows: Vec<_> = operators.iter().collect();
            rows.sort_unstable_by_key(|it| it.0);
            rows.into_iter().map(move |row| (device, row))
        });
        let all: i64 = rows.clone().map(|(_, (_, (_, sum)))| sum.total).sum();
        for (device, (name, (core, sum))) in rows {
            let share = sum.total as f64 * 100.0 / all.max(1) as f64;
            writeln!(
                to,
                "{device},{},{core},{},{},{},{:.3},{},{share:.3}",
                super::kernels::quoted(name),
                sum.count,
                micros(sum.total),
                micros(sum.min),
                sum.mean(),
                micros(sum.max)
            )?;
        }
        Ok(())
    }

    pub(super) fn write_functions(
        &self,
        trace: &Trace,
        device: Option<u32>,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(to, "{FUNCTIONS}")?;
        let device = device.map_or_else(|| UNKNOWN.to_owned(), |it| it.to_string());
        let functions = trace.functions().iter().map(|it| it.name.as_str());
        let mut rows: Vec<(&str, &DurationSum)> = functions
            .zip(&self.functions)
            .filter(|(_, sum)| sum.count > 0)
            .collect();
        rows.sort_unstable_by_key(|it| it.0);
        for (name, sum) in rows {
            writeln!(
                to,
                "{device},{LEVEL},{name},{},{},{:.3},{},{},{:.3}",
                micros(sum.total),
                sum.count,
                sum.mean(),
                micros(sum.min),
                micros(sum.max),
                sum.variance()
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_count_limits_and_variance() {
        let mut all = RankStatistics::default();
        for ns in [1_000, 3_000] {
            all.operator(2, "Relu", UNKNOWN, ns);
        }
        let mut text = Vec::new();
        all.write_operators(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let row = text.lines().nth(1);
        assert_eq!(row, Some("2,Relu,N/A,2,4.000,1.000,2.000,3.000,100.000"));
        let mut sum = DurationSum::default();
        sum.add(1_000);
        sum.add(3_000);
        assert_eq!((sum.mean(), sum.variance()), (2.0, 1.0));
    }
}
