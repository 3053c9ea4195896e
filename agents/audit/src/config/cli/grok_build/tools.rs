//! The web tools of Grok: `web_search` and `x_search`, which xAI can run on its side, and `web_fetch`, which runs here.

use super::layers::Setup;
use super::switches::Switch;
use crate::config::argv::{Arguments, Word};
use crate::config::layers::{Layer, brief, letters};
use crate::config::stops::Stops;
use crate::config::{Bringer, Kind, Origin, Says, Scene, Setting, State, ToolReport};

pub(super) fn audit(scene: &mut Scene<'_>, arguments: &Arguments<'_>, setup: &Setup, stops: &mut Stops) {
    if let Some(second) = arguments.all("--disallowed-tools").nth(1) {
        stops.refused(
            scene,
            second.origin.to_string(),
            "--disallowed-tools stands twice, which grok refuses",
        );
    }
    let disable = Switch::at(scene, setup, &["disable_web_search"], stops);
    let fetch =
        Switch::with_variable(scene, setup, &["features", "web_fetch"], Some("GROK_WEB_FETCH"), stops);
    let backend = Switch::with_variable(
        scene,
        setup,
        &["features", "backend_tools"],
        Some("GROK_BACKEND_SEARCH"),
        stops,
    );
    let mut web_search = Judged::new("web_search");
    web_search.disallowed(arguments);
    web_search.disabled(arguments, &disable);
    web_search.misplaced(scene, arguments, setup);
    subagents(scene, arguments, &web_search);
    let mut web_fetch = Judged::new("web_fetch");
    web_fetch.disallowed(arguments);
    web_fetch.disabled(arguments, &disable);
    web_fetch.fetched(&fetch);
    let mut x_search = Judged::new("x_search");
    x_search.disallowed(arguments);
    x_search.backed(arguments, &disable, &backend);
    for judged in [web_search, x_search, web_fetch] {
        let report = judged.report();
        scene.tool(stops.doubt(report));
    }
}

/// A tool, and what was found so far.
struct Judged {
    tool: &'static str,
    off: Option<String>,
    otherwise: Option<(State, String)>,
    settings: Vec<Setting>,
    /// Whether something other than a list of disallowed tools takes it away.
    everywhere: bool,
}

impl Judged {
    fn new(tool: &'static str) -> Self {
        Self { tool, off: None, otherwise: None, settings: Vec::new(), everywhere: false }
    }

    /// `--disallowed-tools a,b`: names as they are, with commas between.
    fn disallowed(&mut self, arguments: &Arguments<'_>) {
        for word in arguments.values("--disallowed-tools") {
            let names: Vec<&str> = word.text.split(',').map(str::trim).collect();
            let says = if names.contains(&self.tool) {
                self.off.get_or_insert(format!("{} disallows {}", word.origin, self.tool));
                Says::Off
            } else if names.iter().any(|name| letters(name).contains(&letters(self.tool))) {
                Says::Ignored(format!("the tool's name is {}, with commas between names", self.tool))
            } else {
                continue;
            };
            self.say(format!("--disallowed-tools {}", word.text), word.origin.clone(), says);
        }
    }

    /// `--disable-web-search` or the key of that name: a flag can only add to the files.
    fn disabled(&mut self, arguments: &Arguments<'_>, disable: &Switch) {
        if let Some(flag) = arguments.set("--disable-web-search") {
            self.take_off(format!("{} is --disable-web-search", flag.origin));
            self.say("--disable-web-search".into(), flag.origin.clone(), Says::Off);
        }
        if let Some((true, origin)) = &disable.value {
            self.take_off(format!("{origin} sets disable_web_search"));
        }
        self.settings.extend(disable.settings(true));
    }

    fn fetched(&mut self, fetch: &Switch) {
        let why = match &fetch.value {
            Some((false, origin)) => {
                self.take_off(format!("{origin} switches the feature web_fetch off"));
                None
            }
            Some((true, origin)) => Some((State::On, format!("{origin} switches the feature web_fetch on"))),
            None => Some((
                State::Unknown,
                "the feature web_fetch is off by default, but settings that xAI sends may switch it on; \
                 features.web_fetch = false keeps it off"
                    .to_owned(),
            )),
        };
        self.otherwise = why;
        self.settings.extend(fetch.settings(false));
    }

    /// xAI runs `x_search` on its side where a model allows it.
    fn backed(&mut self, arguments: &Arguments<'_>, disable: &Switch, backend: &Switch) {
        if let Some((false, origin)) = &backend.value {
            self.take_off(format!("{origin} keeps xAI from running tools on its side"));
        }
        self.settings.extend(backend.settings(false));
        let leaves = "by the public source it leaves x_search in the offer";
        if let Some(flag) = arguments.set("--disable-web-search") {
            self.say("--disable-web-search".into(), flag.origin.clone(), Says::Ignored(leaves.into()));
        }
        for spoken in &disable.said {
            self.say(spoken.what.clone(), spoken.origin.clone(), Says::Ignored(leaves.into()));
        }
        let why = "in the run that was measured x_search was not offered, but by the public source a model that allows \
                   it gets it even with disable_web_search; features.backend_tools = false, GROK_BACKEND_SEARCH=0 or \
                   --disallowed-tools x_search keeps it off";
        self.otherwise = Some((State::Unknown, why.into()));
    }

    /// What people write for `web_search` and Grok passes over.
    fn misplaced(&mut self, scene: &Scene<'_>, arguments: &Arguments<'_>, setup: &Setup) {
        for word in arguments.values("--deny").filter(|word| speaks(word)) {
            let why =
                "a rule about calls: the tool stays in the offer, and `web_search` as a name stops no call";
            self.say(format!("--deny {}", word.text), word.origin.clone(), Says::Ignored(why.into()));
        }
        for word in arguments.values("--tools").filter(|word| !speaks(word)) {
            let why = "measured: web_search stays in the offer without being listed";
            self.say(format!("--tools {}", word.text), word.origin.clone(), Says::Ignored(why.into()));
        }
        let layers: Vec<&Layer> =
            setup.config.iter().chain(&setup.requirements).chain(&setup.project).collect();
        for (layer, (path, found)) in
            layers.iter().flat_map(|layer| layer.every().into_iter().map(move |e| (layer, e)))
        {
            let is_project = layer.name == "project config";
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            let says = match path.as_slice() {
                ["disable_web_search"] if is_project => "a project's file has no say in this",
                ["disable_web_search"] | ["models", "web_search"] | ["features", "web_fetch"] => continue,
                ["toolset", "web_search" | "web_fetch"] => continue,
                ["permission", ..]
                    if found.value.items().iter().any(|item| item.text().is_some_and(names)) =>
                {
                    "a rule about calls: the tool stays in the offer"
                }
                [.., key] if names(key) && path.first() != Some(&"mcp_servers") => {
                    "grok passes over it: the key is `disable_web_search`, at the top of the file"
                }
                _ => continue,
            };
            let what = format!("{} = {}", path.join("."), brief(found.value));
            let (origin, layer) = (found.origin, layer.name);
            self.settings.push(Setting { what, origin, layer, says: Says::Ignored(says.into()) });
        }
        // Grok's own compatibility covers other things of that file.
        let path = scene.home(".claude/settings.json");
        if scene.exists(&path) {
            let why = "grok does not read permissions there for its own tools";
            let origin = Origin::File { path, place: None };
            self.settings.push(Setting {
                what: "settings of Claude Code".into(),
                origin,
                layer: "no layer",
                says: Says::Ignored(why.into()),
            });
        }
    }

    fn take_off(&mut self, why: String) {
        self.everywhere = true;
        self.off.get_or_insert(why);
    }

    fn say(&mut self, what: String, origin: Origin, says: Says) {
        self.settings.push(Setting { what, origin, layer: "flags", says });
    }

    fn report(self) -> ToolReport {
        let default =
            (State::On, format!("no setting switches it off: grok offers {} by default", self.tool));
        let (state, why) = match self.off {
            Some(why) => (State::Off, why),
            None => self.otherwise.unwrap_or(default),
        };
        let mut settings = self.settings;
        settings.sort_by_key(|setting| setting.says != Says::Off || state != State::Off);
        ToolReport { tool: self.tool.to_owned(), state, why, settings }
    }
}

/// A list of disallowed tools was measured for the agent that is started; whether the ones that it starts keep to it
/// was not.
fn subagents(scene: &mut Scene<'_>, arguments: &Arguments<'_>, web_search: &Judged) {
    let listed =
        arguments.last("--disallowed-tools").filter(|_| web_search.off.is_some() && !web_search.everywhere);
    if let Some(listed) = listed
        && arguments.set("--no-subagents").is_none()
    {
        let why = "whether subagents keep to --disallowed-tools was not measured: --no-subagents or \
                   --disable-web-search makes sure";
        let (kind, name, origin) = (Kind::Subagent, "spawn_subagent".to_owned(), listed.origin.clone());
        scene.brings(Bringer { kind, name, origin, state: State::Unknown, why: why.into() });
    }
}

fn speaks(word: &Word<'_>) -> bool {
    names(word.text)
}

fn names(text: &str) -> bool {
    let letters = letters(text);
    letters.contains("websearch") || letters.contains("webfetch")
}
