//! From what was measured to what is said about it.

use serde::{Deserialize, Serialize};

/// What a number counts, and so which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Unit {
    #[serde(rename = "MB/s")]
    Megabytes,
    #[serde(rename = "1/s")]
    PerSecond,
    #[serde(rename = "us")]
    Microseconds,
    #[serde(rename = "ms")]
    Milliseconds,
    #[serde(rename = "ms/GB")]
    MillisecondsPerGigabyte,
    #[serde(rename = "ms/s")]
    MillisecondsPerSecond,
    #[serde(rename = "KiB")]
    Kibibytes,
}

/// One line of the table.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) group: String,
    pub(crate) what: String,
    pub(crate) unit: Unit,
    /// Without the proxy, where there is such a thing.
    pub(crate) direct: Option<Spread>,
    /// Through it.
    pub(crate) proxied: Spread,
    /// How many times slower it is through the proxy, by the medians.
    pub(crate) slower: Option<f64>,
}

/// Of the values of all rounds.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

/// Rows in the making, in the order of their first value.
#[derive(Debug, Default)]
pub(crate) struct Figures(Vec<Series>);

#[derive(Debug)]
struct Series {
    group: String,
    what: String,
    unit: Unit,
    direct: Vec<f64>,
    proxied: Vec<f64>,
}

/// Where a value was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Direct,
    Proxied,
}

impl Unit {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Megabytes => "MB/s",
            Self::PerSecond => "1/s",
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
            Self::MillisecondsPerGigabyte => "ms/GB",
            Self::MillisecondsPerSecond => "ms/s",
            Self::Kibibytes => "KiB",
        }
    }

    fn is_rate(self) -> bool {
        matches!(self, Self::Megabytes | Self::PerSecond)
    }
}

impl Figures {
    /// One more value.
    pub(crate) fn add(&mut self, way: Way, group: &str, what: &str, unit: Unit, value: f64) {
        let there = self.0.iter_mut().find(|series| series.group == group && series.what == what);
        let values = |series: &mut Series| match way {
            Way::Direct => series.direct.push(value),
            Way::Proxied => series.proxied.push(value),
        };
        match there {
            Some(series) => values(series),
            None => {
                let (group, what) = (group.to_owned(), what.to_owned());
                let mut series = Series { group, what, unit, direct: Vec::new(), proxied: Vec::new() };
                values(&mut series);
                self.0.push(series);
            }
        }
    }

    /// What there is to say, group by group.
    pub(crate) fn rows(self) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for row in self.0.into_iter().filter_map(Series::row) {
            let end =
                rows.iter().rposition(|other| other.group == row.group).map_or(rows.len(), |last| last + 1);
            rows.insert(end, row);
        }
        rows
    }
}

impl Series {
    fn row(self) -> Option<Row> {
        let Self { group, what, unit, direct, proxied } = self;
        let (direct, proxied) = (Spread::of(direct), Spread::of(proxied)?);
        let slower = direct.map(|direct| match unit.is_rate() {
            true => direct.median / proxied.median,
            false => proxied.median / direct.median,
        });
        Some(Row { group, what, unit, direct, proxied, slower })
    }
}

impl Spread {
    fn of(values: Vec<f64>) -> Option<Self> {
        let sorted = sorted(values);
        Some(Self { median: quantile(&sorted, 0.5)?, min: *sorted.first()?, max: *sorted.last()? })
    }
}

/// In order.
pub(crate) fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// The smallest value that is not smaller than this share of them (nearest rank).
pub(crate) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}
