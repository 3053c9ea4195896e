"""Reads a job directory as TrialDesignBench and Harbor do, and compares its files with what Python would have written."""

import json
import pathlib
import sys

from trialdesignbench.canary import BLOCKED_URLS, canary_result
from trialdesignbench.report import is_job_dir, load_job

job = pathlib.Path(sys.argv[1])
assert is_job_dir(job)
[trial] = [path for path in job.iterdir() if path.is_dir()]
trials, expected, failures = load_job(job)
assert trials == [] and expected == set(), (trials, expected)

verdict = trial / "verifier" / "canary.json"
data = json.loads(verdict.read_text())
assert json.dumps(data, indent=2) == verdict.read_text(), verdict.read_text()
reward = trial / "verifier" / "reward.json"
assert json.dumps(json.loads(reward.read_text())) == reward.read_text()

passed, reasons = canary_result(trial)
assert passed == (failures == []) == (json.loads(reward.read_text())["reward"] == 1.0)

artifacts = trial / "artifacts" / "logs" / "artifacts"
for phase, name in (("setup", "canary.json"), ("agent", "canary-agent.json")):
    probe = json.loads((artifacts / name).read_text())
    assert probe == data["probe"][phase]
    # What its verifier would have said is said.
    for url in BLOCKED_URLS:
        if probe["blocked"].get(url) is None:
            assert any(url in reason for reason in reasons), reasons
    for url, code in probe["blocked"].items():
        assert (code == 0) == (f"{phase}: blocked URL reachable: {url}" in reasons)
    for host, code in probe["allowed"].items():
        assert (code != 0) == (f"{phase}: allowed host unreachable: {host} (curl exit {code})" in reasons)

try:
    from harbor.models.job.config import JobConfig
    from harbor.models.trial.result import TrialResult
except ImportError:
    sys.exit(0)
result = TrialResult.model_validate_json((trial / "result.json").read_text())
assert result.trial_name == trial.name
assert result.verifier_result.rewards["reward"] == (1.0 if passed else 0.0)
JobConfig.model_validate_json((job / "config.json").read_text())
