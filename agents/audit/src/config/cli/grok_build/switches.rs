//! The switches of Grok: what each layer says of one.

use super::layers::Setup;
use crate::config::layers::{Found, Layer, brief, find};
use crate::config::stops::Stops;
use crate::config::{Origin, Says, Scene, Setting};

/// One switch, resolved.
#[derive(Debug)]
pub(super) struct Switch {
    /// What it comes to, and where that is said; `None` if nothing says anything.
    pub(super) value: Option<(bool, Origin)>,
    /// Every place that speaks of it, strongest first, each with what it says.
    pub(super) said: Vec<Spoken>,
}

/// One place.
#[derive(Debug, Clone)]
pub(super) struct Spoken {
    pub(super) what: String,
    pub(super) origin: Origin,
    pub(super) layer: &'static str,
    pub(super) value: Option<bool>,
}

impl Switch {
    /// `disable_web_search`, over all files.
    pub(super) fn at(scene: &mut Scene<'_>, setup: &Setup, path: &[&str], stops: &mut Stops) -> Self {
        Self::with_variable(scene, setup, path, None, stops)
    }

    /// A feature: requirements, its variable, then the files.
    pub(super) fn with_variable(
        scene: &mut Scene<'_>,
        setup: &Setup,
        path: &[&str],
        variable: Option<&str>,
        stops: &mut Stops,
    ) -> Self {
        let name = path.join(".");
        let mut switch = Self { value: None, said: Vec::new() };
        for found in find(&setup.requirements, path) {
            switch.take(scene, &setup.requirements, &name, &found, stops);
        }
        if let Some((variable, (value, origin))) =
            variable.and_then(|variable| Some((variable, scene.variable(variable)?)))
        {
            let read = truth(value);
            let what = format!("{variable}={value}");
            if let (Some(on), None) = (read, &switch.value) {
                switch.value = Some((on, origin.clone()));
            }
            switch.said.push(Spoken { what, origin: origin.clone(), layer: "environment", value: read });
        }
        for found in find(&setup.config, path) {
            switch.take(scene, &setup.config, &name, &found, stops);
        }
        switch
    }

    fn take(
        &mut self,
        scene: &mut Scene<'_>,
        layers: &[Layer],
        name: &str,
        found: &Found<'_>,
        stops: &mut Stops,
    ) {
        let value = found.value.boolean();
        let what = format!("{name} = {}", brief(found.value));
        self.said.push(Spoken { what, origin: found.origin.clone(), layer: found.layer, value });
        match (value, &self.value) {
            (Some(on), None) => self.value = Some((on, found.origin.clone())),
            (Some(_), Some(_)) | (None, Some(_)) => {}
            (None, None) => {
                // Measured: `invalid type: string "yes", expected a boolean`, exit 1.
                let reason = format!("grok accepts true or false for {name}, not {}", brief(found.value));
                stops.because(format!("{}: {reason}", found.origin));
                let document = layers.iter().filter_map(Layer::document).find(
                    |document| matches!(&found.origin, Origin::File { path, .. } if *path == document.path),
                );
                if let Some(document) = document {
                    scene.malformed(document.fault(found.value.at, reason));
                }
            }
        }
    }

    /// Every place as a setting; `off` is the value that takes the tool away.
    pub(super) fn settings(&self, off: bool) -> Vec<Setting> {
        let mut decided = false;
        let settings = self.said.iter().map(|spoken| {
            let says = match spoken.value {
                None => Says::Unclear("neither true nor false".into()),
                Some(_) if decided => Says::Overridden("a stronger layer decides".into()),
                Some(value) if value == off => Says::Off,
                Some(_) => Says::On,
            };
            decided |= spoken.value.is_some();
            let (what, origin) = (spoken.what.clone(), spoken.origin.clone());
            Setting { what, origin, layer: spoken.layer, says }
        });
        settings.collect()
    }
}

/// How Grok reads a variable; what it does not know is as if it were not there.
pub(super) fn truth(value: &str) -> Option<bool> {
    match value.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" | "enabled" => Some(true),
        "0" | "false" | "no" | "off" | "disabled" => Some(false),
        _ => None,
    }
}
