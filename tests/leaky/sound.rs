//! The sidecar that does not leak.

use closedbook_canary::report::Overall;

use crate::hole::Hole;
use crate::support::modes;

/// Everything passes, and nothing is left out but for a reason: without this, that a hole is found means nothing.
#[test]
fn everything_passes() {
    for &mode in modes() {
        let sound = || Hole::named("sound").through_its_life().by_root_too().judgement(mode);
        // On a busy machine time may run out for one probe or another; a way out that was found is no matter of time.
        let judgement = match sound() {
            first if first.overall == Overall::Inconclusive => sound(),
            first => first,
        };
        assert_eq!(judgement.overall, Overall::Pass, "{mode:?}:\n{}", judgement.reasons.join("\n"));
    }
}
