//! Two starts of one CLI against its row: as it comes, and with the row's switches set.

use std::collections::BTreeSet;

use serde::Serialize;

use super::reach::sounds_like_web;
use super::{How, Offer, Offered, Reach, reach};

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
    judgement.is_readable(default, "as it comes", fetches(default));
    // A CLI that has no tools as it comes needs none afterwards.
    judgement.is_readable(switched, "with the switches", !declares(default));
    judgement.has_control(row, default);
    for tool in &switched.tools {
        judgement.switched(row, tool);
    }
    judgement.is_up_to_date(row, default);
    judgement.lost(row, default, switched);
    judgement
}

/// Whether any request offers a tool.
fn declares(offer: &Offer) -> bool {
    offer.tools.iter().any(|tool| tool.request.is_some() && tool.how != How::Mentioned)
}

/// Whether the CLI fetches by itself.
fn fetches(offer: &Offer) -> bool {
    offer.tools.iter().any(|tool| tool.how == How::ByItself)
}

impl Judgement {
    /// The worst there is.
    pub fn weight(&self) -> Weight {
        self.findings.iter().map(|finding| finding.weight).max().unwrap_or(Weight::Remark)
    }

    /// Judges a start with one switch alone, which these tools are said to obey.
    pub fn alone(&mut self, tools: &[&str], offer: &Offer, start: &str) {
        self.is_readable(offer, start, false);
        for tool in offer.tools.iter().filter(|tool| tools.contains(&tool.name.as_str())) {
            let how = tool.how.words();
            let (weight, text) = match tool.how {
                How::Mentioned => (Weight::Unknown, format!("{start}: {how}")),
                _ => (Weight::Failure, format!("{start}: still offered ({how})")),
            };
            self.find(weight, Some(&tool.name), text);
        }
    }

    /// A start that shows no turn, or one without any tool, shows nothing.
    fn is_readable(&mut self, offer: &Offer, start: &str, may_lack_tools: bool) {
        for unread in &offer.unread {
            let place = unread.request.map_or_else(String::new, |number| format!(", request {number}"));
            self.find(Weight::Unknown, None, format!("{start}{place}: {}", unread.why));
        }
        if offer.turns == 0 {
            self.find(Weight::Unknown, None, format!("{start}: the CLI asked no model"));
        } else if !declares(offer) && !may_lack_tools {
            self.find(Weight::Unknown, None, format!("{start}: no request offers any tool"));
        }
    }

    /// G14: that nothing is seen with the switches proves something only if something is seen without.
    fn has_control(&mut self, row: &[&str], default: &Offer) {
        let sees = default.web().any(|(_, reach)| reach > Reach::Unknown);
        if default.turns > 0 && !row.is_empty() && !sees {
            let text = "as it comes: no web tool is seen, though the row has some, so that none is seen with the \
                        switches proves nothing";
            self.find(Weight::Unknown, None, text);
        }
    }

    fn switched(&mut self, row: &[&str], tool: &Offered) {
        let at = tool.request.map_or_else(String::new, |number| format!(", request {number}"));
        let how = tool.how.words();
        let offered = format!("offered ({how}{at}) although the switches are set");
        let (weight, text) = match (tool.how, reach(tool)) {
            (How::Mentioned, _) => (Weight::Unknown, format!("{how}{at}, although the switches are set")),
            _ if row.contains(&tool.name.as_str()) => (Weight::Failure, offered),
            (_, Reach::Web) => (Weight::Failure, format!("{offered}; the row does not know it")),
            (_, Reach::Provider) => (Weight::Failure, format!("{offered}; it runs at the provider")),
            (_, Reach::Unknown) => (Weight::Unknown, format!("{offered}; nobody knows how far it reaches")),
            (_, Reach::Local) if tool.bare && sounds_like_web(&tool.name) => {
                let what = "sounds like the web, and takes no arguments: the model can't tell it where to go";
                (Weight::Remark, format!("{what} ({how}{at})"))
            }
            (_, Reach::Local) => return,
        };
        self.find(weight, Some(&tool.name), text);
    }

    /// Whether the row's web tools are those that there are.
    fn is_up_to_date(&mut self, row: &[&str], default: &Offer) {
        let seen =
            |name: &str| default.tools.iter().any(|tool| tool.name == name && tool.how != How::Mentioned);
        if default.turns > 0 && !fetches(default) {
            for name in row.iter().filter(|name| !seen(name)) {
                let text = "a web tool of the row that is not offered as it comes: the row may be out of date, or the \
                            tool may come with other settings";
                self.find(Weight::Remark, Some(name), text);
            }
        }
        for (tool, reach) in default.web().filter(|(tool, _)| !row.contains(&tool.name.as_str())) {
            // What fetches by itself has no name that a row could have.
            if reach == Reach::Web && tool.how != How::ByItself {
                let text = format!("offered as it comes ({}), and no web tool of the row", tool.how.words());
                self.find(Weight::Remark, Some(&tool.name), text);
            }
        }
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
