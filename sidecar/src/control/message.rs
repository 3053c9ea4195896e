//! JSON-RPC 2.0: one line is one request, or one answer.

use serde_json::{Map, Value, json};

use super::fault::{Fault, Word};

/// A request, as far as JSON-RPC defines it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Request {
    /// None for a notification, which is not answered.
    pub(super) id: Option<Value>,
    pub(super) method: String,
    pub(super) params: Map<String, Value>,
}

/// A line that is no request, with the id that its answer carries.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NoRequest {
    pub(super) id: Value,
    pub(super) fault: Fault,
}

impl Request {
    /// Reads a line.
    pub(super) fn parse(line: &[u8]) -> Result<Self, NoRequest> {
        let value: Value = serde_json::from_slice(line).map_err(|error| NoRequest {
            id: Value::Null,
            fault: Fault::new(Word::ParseError, format!("the line is no JSON: {error}")),
        })?;
        let mut members = match value {
            Value::Object(members) => members,
            Value::Array(_) => {
                let fault = Fault::new(Word::BatchNotServed, "requests are sent one a line, not in arrays");
                return Err(NoRequest { id: Value::Null, fault });
            }
            _ => return Err(NoRequest { id: Value::Null, fault: invalid("a request is an object") }),
        };
        let id = members.remove("id");
        // What can't be an id is not given back (JSON-RPC 2.0 section 5).
        let given = match &id {
            None | Some(Value::Null | Value::String(_) | Value::Number(_)) => Ok(id.clone()),
            Some(_) => Err(invalid("an id is a string, a number or null")),
        };
        let answer_to = given.clone().ok().flatten().unwrap_or_default();
        let refused = |fault| NoRequest { id: answer_to.clone(), fault };
        let id = given.map_err(refused)?;
        Self::read(id, members).map_err(refused)
    }

    fn read(id: Option<Value>, mut members: Map<String, Value>) -> Result<Self, Fault> {
        if members.remove("jsonrpc") != Some("2.0".into()) {
            return Err(invalid("a request says \"jsonrpc\": \"2.0\""));
        }
        let Some(Value::String(method)) = members.remove("method") else {
            return Err(invalid("a request names its method by a string"));
        };
        let params = match members.remove("params") {
            None => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => {
                return Err(Fault::new(Word::InvalidParams, "parameters are given by name, in an object"));
            }
        };
        match members.keys().next() {
            Some(unknown) => Err(invalid(&format!("a request has no member {unknown:?}"))),
            None => Ok(Self { id, method, params }),
        }
    }
}

/// The line that answers, its end included.
pub(super) fn answer(id: Value, answer: Result<Value, Fault>) -> Vec<u8> {
    line(&match answer {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(fault) => json!({ "jsonrpc": "2.0", "id": id, "error": fault.into_json() }),
    })
}

/// The line that tells something unasked, its end included.
pub(super) fn notification(method: &str, params: &Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

fn line(value: &Value) -> Vec<u8> {
    let mut line = value.to_string().into_bytes();
    line.push(b'\n');
    line
}

fn invalid(message: &str) -> Fault {
    Fault::new(Word::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        let parse = |text: &str| Request::parse(text.as_bytes()).unwrap();
        let status = parse(r#"{"jsonrpc":"2.0","id":7,"method":"status"}"#);
        assert_eq!((status.id, status.method.as_str()), (Some(7.into()), "status"));
        let set = parse(r#"{"id":"x","params":{"name":"agent"},"method":"phase.set","jsonrpc":"2.0"}"#);
        assert_eq!(set.params["name"], "agent");
        assert_eq!(parse(r#"{"jsonrpc":"2.0","method":"status"}"#).id, None);
        assert_eq!(parse(r#"{"jsonrpc":"2.0","method":"status","id":null}"#).id, Some(Value::Null));
    }

    /// G16: whatever is no request is told so, by the code that JSON-RPC has for it, with the id where there is one.
    #[test]
    fn no_requests() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for (text, id, word) in [
            ("", Value::Null, Word::ParseError),
            ("{", Value::Null, Word::ParseError),
            ("nonsense", Value::Null, Word::ParseError),
            (r#"{"jsonrpc":"2.0","id":1,"method":"status"} x"#, Value::Null, Word::ParseError),
            ("\u{0}", Value::Null, Word::ParseError),
            (&deep, Value::Null, Word::ParseError),
            ("[]", Value::Null, Word::BatchNotServed),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"status"}]"#, Value::Null, Word::BatchNotServed),
            ("1", Value::Null, Word::InvalidRequest),
            ("null", Value::Null, Word::InvalidRequest),
            (r#"{"id":1,"method":"status"}"#, 1.into(), Word::InvalidRequest),
            (r#"{"jsonrpc":"1.0","id":1,"method":"status"}"#, 1.into(), Word::InvalidRequest),
            (r#"{"jsonrpc":"2.0","id":1}"#, 1.into(), Word::InvalidRequest),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, 1.into(), Word::InvalidRequest),
            (r#"{"jsonrpc":"2.0","id":{},"method":"status"}"#, Value::Null, Word::InvalidRequest),
            (r#"{"jsonrpc":"2.0","id":1,"method":"status","more":1}"#, 1.into(), Word::InvalidRequest),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"phase.set","params":["agent"]}"#,
                1.into(),
                Word::InvalidParams,
            ),
        ] {
            let refused = Request::parse(text.as_bytes()).unwrap_err();
            assert_eq!((refused.id, refused.fault.word()), (id, word), "{:.60}", text);
        }
        assert_eq!(Request::parse(b"\"\xff\"").unwrap_err().fault.word(), Word::ParseError);
    }
}
