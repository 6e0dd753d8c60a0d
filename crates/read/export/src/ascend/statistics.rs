//! `op_statistic.csv` and `api_statistic.csv`: sums of tasks by type, and of calls by function.

use std::collections::BTreeMap;
use std::io::{self, Write};

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
    /// By device, type and core.
    operators: BTreeMap<(u32, String, &'static str), DurationSum>,
    functions: BTreeMap<String, DurationSum>,
}

impl RankStatistics {
    pub(super) fn operator(&mut self, device: u32, name: &str, core: &'static str, ns: i64) {
        let sum = self.operators.entry((device, name.to_owned(), core));
        sum.or_default().add(ns);
    }

    pub(super) fn call(&mut self, name: &str, ns: i64) {
        match self.functions.get_mut(name) {
            Some(sum) => sum.add(ns),
            None => {
                let sum = self.functions.entry(name.to_owned());
                sum.or_default().add(ns);
            }
        }
    }

    pub(super) fn write_operators(&self, to: &mut dyn Write) -> io::Result<()> {
        writeln!(to, "{OPERATORS}")?;
        let all: i64 = self.operators.values().map(|it| it.total).sum();
        for ((device, name, core), sum) in &self.operators {
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
        device: Option<u32>,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(to, "{FUNCTIONS}")?;
        let device = device.map_or_else(|| UNKNOWN.to_owned(), |it| it.to_string());
        for (name, sum) in &self.functions {
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
            all.call("aclrtMalloc", ns);
            all.operator(2, "Relu", UNKNOWN, ns);
        }
        let mut text = Vec::new();
        all.write_functions(Some(2), &mut text).unwrap();
        all.write_operators(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[1],
            "2,AscendCL,aclrtMalloc,4.000,2,2.000,1.000,3.000,1.000"
        );
        assert_eq!(lines[3], "2,Relu,N/A,2,4.000,1.000,2.000,3.000,100.000");
    }
}
