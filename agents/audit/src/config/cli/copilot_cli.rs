use crate::config::Scene;

pub(crate) fn audit(_scene: &mut Scene<'_>) {}
