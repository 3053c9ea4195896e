"""What TrialDesignBench's own table says, as JSON: the test beside this file compares it with ours."""

import json

from trialdesignbench import agents
from trialdesignbench.providers import PROVIDERS


def logins(profile):
    for auth in ("api", "subscription"):
        for provider in profile.providers:
            try:
                hosts = agents.api_hosts(profile, auth, provider)
            except agents.AgentError:
                continue
            yield {
                "auth": auth,
                "provider": provider,
                "key": PROVIDERS[provider].key_env,
                "agent": sorted(set(hosts)),
                "setup": sorted({*hosts, *profile.setup_hosts}),
                "verified": agents.hosts_verified(profile, auth)[0],
            }


def row(profile):
    subscription = profile.subscription
    return {
        "title": profile.title,
        "version": profile.version,
        "label": profile.image_label,
        "preinstalled": profile.preinstalled,
        "effort": list(profile.effort.levels),
        "tools": sorted(profile.disabled_tools),
        "logins": list(logins(profile)),
        "subscription_env": dict(subscription.env) if subscription else None,
    }


table = {
    "host_table_version": agents.HOST_TABLE_VERSION,
    "refused": sorted(agents.REFUSED_AGENTS),
    "agents": {profile.name: row(profile) for profile in agents.AGENTS},
}
print(json.dumps(table, indent=1, sort_keys=True))
