//! The methods, with their parameters.

use closedbook_policy::Policy;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::fault::{Fault, Word};
use crate::outer::Reach;

/// The longest line of every method but `policy.set`.
const LONGEST: usize = 64 * 1024;

/// The flows that are listed when nobody says how many.
const FLOWS: usize = 1000;

/// What can be asked for.
#[derive(Debug, Clone)]
pub(super) enum Method {
    Status,
    PhaseGet,
    PhaseSet { name: String, widen: bool, reach: Reach },
    PolicyGet,
    PolicySet { policy: Box<Policy>, widen: bool, reach: Reach },
    FlowsList { limit: usize },
    DenialsSummary,
    LogFollow { last: usize, follow: bool },
    Health,
    Metrics,
    Shutdown,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PhaseSet {
    name: String,
    #[serde(default)]
    widen: bool,
    #[serde(default)]
    cut: Cut,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicySet {
    policy: Value,
    #[serde(default)]
    widen: bool,
    #[serde(default)]
    cut: Cut,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlowsList {
    #[serde(default = "all_flows")]
    limit: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LogFollow {
    #[serde(default)]
    last: usize,
    #[serde(default = "yes")]
    follow: bool,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "lowercase")]
enum Cut {
    #[default]
    Refused,
    All,
}

impl Method {
    /// Reads the parameters of a method, from a line of this length.
    pub(super) fn read(name: &str, params: Map<String, Value>, length: usize) -> Result<Self, Fault> {
        if length > LONGEST && name != "policy.set" {
            let message = format!("a line may have {LONGEST} bytes at most, unless it sets a policy");
            return Err(Fault::new(Word::LineTooLong, message));
        }
        let nothing = |method| parsed::<Nothing>(params.clone()).map(|Nothing {}| method);
        match name {
            "status" => nothing(Method::Status),
            "phase.get" => nothing(Method::PhaseGet),
            "policy.get" => nothing(Method::PolicyGet),
            "denials.summary" => nothing(Method::DenialsSummary),
            "health" => nothing(Method::Health),
            "metrics" => nothing(Method::Metrics),
            "shutdown" => nothing(Method::Shutdown),
            "phase.set" => {
                let PhaseSet { name, widen, cut } = parsed(params)?;
                Ok(Method::PhaseSet { name, widen, reach: cut.into() })
            }
            "policy.set" => {
                let PolicySet { policy, widen, cut } = parsed(params)?;
                Ok(Method::PolicySet { policy: Box::new(document(policy)?), widen, reach: cut.into() })
            }
            "flows.list" => parsed(params).map(|FlowsList { limit }| Method::FlowsList { limit }),
            "log.follow" => {
                parsed(params).map(|LogFollow { last, follow }| Method::LogFollow { last, follow })
            }
            _ => Err(Fault::new(Word::UnknownMethod, format!("there is no method {name:?}"))),
        }
    }
}

impl From<Cut> for Reach {
    fn from(cut: Cut) -> Self {
        match cut {
            Cut::Refused => Reach::Refused,
            Cut::All => Reach::All,
        }
    }
}

fn parsed<T: DeserializeOwned>(params: Map<String, Value>) -> Result<T, Fault> {
    serde_json::from_value(Value::Object(params))
        .map_err(|error| Fault::new(Word::InvalidParams, error.to_string()))
}

/// A policy as the text of its file, TOML or JSON, or as the object that the JSON would be.
fn document(policy: Value) -> Result<Policy, Fault> {
    let read = match policy {
        Value::String(text) => Policy::from_text(&text),
        object @ Value::Object(_) => Policy::from_json(&object.to_string()),
        _ => return Err(Fault::new(Word::InvalidParams, "`policy` is a document: a string or an object")),
    };
    read.map_err(|invalid| {
        let faults: Vec<Value> = invalid
            .faults()
            .map(|fault| {
                json!({
                    "line": fault.line, "column": fault.column, "field": fault.field,
                    "message": fault.kind.to_string(),
                })
            })
            .collect();
        Fault::new(Word::InvalidPolicy, invalid.to_string()).with("faults", faults)
    })
}

fn all_flows() -> usize {
    FLOWS
}

fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, params: Value) -> Result<Method, Word> {
        let Value::Object(params) = params else { panic!("not an object") };
        Method::read(name, params, 100).map_err(|fault| fault.word())
    }

    #[test]
    fn parameters_are_read() {
        let set = read("phase.set", json!({"name": "agent"})).unwrap();
        let Method::PhaseSet { name, widen: false, reach: Reach::Refused } = set else { panic!("{set:?}") };
        assert_eq!(name, "agent");
        let set = read("phase.set", json!({"name": "agent", "widen": true, "cut": "all"})).unwrap();
        assert!(matches!(set, Method::PhaseSet { widen: true, reach: Reach::All, .. }));
        let document = json!({"schema": 1, "phase": {"agent": {"allow": ["a.example"]}}});
        assert!(matches!(read("policy.set", json!({"policy": document})), Ok(Method::PolicySet { .. })));
        let text = "schema = 1\nphase.agent.allow = []";
        assert!(matches!(read("policy.set", json!({"policy": text})), Ok(Method::PolicySet { .. })));
        assert!(matches!(read("log.follow", json!({})), Ok(Method::LogFollow { last: 0, follow: true })));
    }

    /// A misspelt parameter is not left unread: `widne` must not narrow, and `name` is never guessed.
    #[test]
    fn wrong_parameters() {
        use Word::*;
        for (name, params, word) in [
            ("phase.set", json!({}), InvalidParams),
            ("phase.set", json!({"name": 5}), InvalidParams),
            ("phase.set", json!({"name": "agent", "widne": true}), InvalidParams),
            ("phase.set", json!({"name": "agent", "widen": "yes"}), InvalidParams),
            ("phase.set", json!({"name": "agent", "cut": "some"}), InvalidParams),
            ("status", json!({"verbose": true}), InvalidParams),
            ("flows.list", json!({"limit": -1}), InvalidParams),
            ("policy.set", json!({"policy": 1}), InvalidParams),
            ("policy.set", json!({"policy": "schema = 2"}), InvalidPolicy),
            ("policy.set", json!({"policy": {}}), InvalidPolicy),
            ("phase.drop", json!({}), UnknownMethod),
            ("", json!({}), UnknownMethod),
        ] {
            assert_eq!(read(name, params,).unwrap_err(), word, "{name}");
        }
        let long = Method::read("status", Map::new(), LONGEST + 1).unwrap_err();
        assert_eq!(long.word(), LineTooLong);
    }
}
