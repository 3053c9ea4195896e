//! Two starts of one CLI against its row: as it comes, and with the row's switches set.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Offer, Offered, Reach, reach};

/// What two starts show.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// What was found, in the order of the offers.
    pub findings: Vec<Finding>,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it counts for.
    pub weight: Weight,
    /// The tool, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What.
    pub text: String,
}

/// What a finding counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// Worth knowing.
    Remark,
    /// Nobody can tell whether a web tool is offered.
    Unknown,
    /// A web tool is offered although it is switched off.
    Failure,
}

/// Judges the start with the switches by the row, and the row by the start without them.
pub fn judge(row: &[&str], default: &Offer, switched: &Offer) -> Judgement {
    let mut judgement = Judgement::default();
    for (offer, start) in [(default, "as it comes"), (switched, "with the switches")] {
        judgement.is_readable(offer, start);
    }
    for tool in &switched.tools {
        judgement.switched(row, tool);
    }
    for name in row {
        if default.turns > 0 && !default.tools.iter().any(|tool| tool.name == *name) {
            let text = "a web tool of the row that is not offered as it comes: the row may be out of date, or the \
                        tool may come with other settings";
            judgement.find(Weight::Remark, Some(name), text);
        }
    }
    for (tool, reach) in default.web().filter(|(tool, _)| !row.contains(&tool.name.as_str())) {
        if reach == Reach::Web {
            let text = format!("offered as it comes ({}), and no web tool of the row", tool.how.words());
            judgement.find(Weight::Remark, Some(&tool.name), text);
        }
    }
    judgement.lost(row, default, switched);
    judgement
}

impl Judgement {
    /// The worst there is.
    pub fn weight(&self) -> Weight {
        self.findings.iter().map(|finding| finding.weight).max().unwrap_or(Weight::Remark)
    }

    /// A start that shows no turn, or one without any tool, shows nothing.
    fn is_readable(&mut self, offer: &Offer, start: &str) {
        for unread in &offer.unread {
            let place = unread.request.map_or_else(String::new, |number| format!(", request {number}"));
            self.find(Weight::Unknown, None, format!("{start}{place}: {}", unread.why));
        }
        let declares = offer.tools.iter().any(|tool| tool.request.is_some());
        match offer.turns {
            0 => self.find(Weight::Unknown, None, format!("{start}: the CLI asked no model")),
            _ if !declares => {
                self.find(Weight::Unknown, None, format!("{start}: no request offers any tool"))
            }
            _ => {}
        }
    }

    fn switched(&mut self, row: &[&str], tool: &Offered) {
        let at = tool.request.map_or_else(String::new, |number| format!(", request {number}"));
        let offered = format!("offered ({}{at}) although the switches are set", tool.how.words());
        let (weight, text) = match reach(tool) {
            _ if row.contains(&tool.name.as_str()) => (Weight::Failure, offered),
            Reach::Web => (Weight::Failure, format!("{offered}; the row does not know it")),
            Reach::Provider => (Weight::Failure, format!("{offered}; it runs at the provider")),
            Reach::Unknown => (Weight::Unknown, format!("{offered}; nobody knows how far it reaches")),
            Reach::Local => return,
        };
        self.find(weight, Some(&tool.name), text);
    }

    /// Other tools that went with the web tools: the switches do more than they should.
    fn lost(&mut self, row: &[&str], default: &Offer, switched: &Offer) {
        let names = |offer: &Offer| -> BTreeSet<String> {
            let local = offer.tools.iter().filter(|tool| reach(tool) == Reach::Local);
            local.map(|tool| tool.name.clone()).filter(|name| !row.contains(&name.as_str())).collect()
        };
        let (before, after) = (names(default), names(switched));
        let gone: Vec<&str> = before.difference(&after).map(String::as_str).collect();
        if switched.turns > 0 && !gone.is_empty() {
            let text = format!("no longer offered with the switches, and no web tools: {}", gone.join(", "));
            self.find(Weight::Remark, None, text);
        }
    }

    fn find(&mut self, weight: Weight, tool: Option<&str>, text: impl Into<String>) {
        let finding = Finding { weight, tool: tool.map(str::to_owned), text: text.into() };
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }
}
