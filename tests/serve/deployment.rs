//! `tfoci help deployment`: the unit of systemd limits what the server may do.

use crate::support::scene::Scene;

/// How long the server lets downloads go on, by default.
const GRACE: u64 = 60;

/// The lines of the page between two others, without the indentation that all have.
fn excerpt(first: &str, end: &str) -> Vec<String> {
    let page = Scene::new().tfoci(["help", "deployment"]).succeeds().stdout;
    let lines = page.lines().skip_while(|line| line.trim() != first);
    let lines: Vec<String> = lines
        .take_while(|line| !line.trim().starts_with(end))
        .map(|line| line.strip_prefix("  ").unwrap_or_default().to_owned())
        .collect();
    assert!(lines.len() > 1, "{first}\n{page}");
    lines
}

#[test]
fn the_unit_of_systemd_has_few_rights() {
    let unit = excerpt("[Service]", "[Install]");
    let value = |name: &str| {
        let of_name = |line: &String| Some(line.strip_prefix(name)?.strip_prefix('=')?.to_owned());
        let values: Vec<String> = unit.iter().filter_map(of_name).collect();
        assert_eq!(values.len(), 1, "{name}: {values:?}");
        values.concat()
    };
    // To listen on port 443.
    let capability = "CAP_NET_BIND_SERVICE";
    for (name, expected) in [
        ("AmbientCapabilities", capability),
        ("CapabilityBoundingSet", capability),
        ("DynamicUser", "yes"),
        ("LockPersonality", "yes"),
        ("MemoryDenyWriteExecute", "yes"),
        ("NoNewPrivileges", "yes"),
        ("PrivateDevices", "yes"),
        ("PrivateTmp", "yes"),
        ("ProtectClock", "yes"),
        ("ProtectControlGroups", "yes"),
        ("ProtectHome", "yes"),
        ("ProtectHostname", "yes"),
        ("ProtectKernelLogs", "yes"),
        ("ProtectKernelModules", "yes"),
        ("ProtectKernelTunables", "yes"),
        ("ProtectSystem", "strict"),
        ("RestrictAddressFamilies", "AF_INET AF_INET6 AF_UNIX"),
        ("RestrictNamespaces", "yes"),
        ("RestrictRealtime", "yes"),
        ("SystemCallArchitectures", "native"),
        ("SystemCallErrorNumber", "EPERM"),
        ("SystemCallFilter", "@system-service"),
        ("UMask", "0077"),
    ] {
        assert_eq!(value(name), expected, "{name}");
    }
    let stop: u64 = value("TimeoutStopSec").parse().unwrap();
    assert!(stop > GRACE, "{stop}");
}
