//! The unit of systemd limits what the server may do.

/// How long the server lets downloads go on, by default.
const GRACE: u64 = 60;

#[test]
fn the_unit_of_systemd_has_few_rights() {
    let unit = std::fs::read_to_string("packaging/tfoci.service").unwrap();
    let value = |name: &str| {
        let of_name = |line: &str| Some(line.strip_prefix(name)?.strip_prefix('=')?.to_owned());
        let values: Vec<String> = unit.lines().filter_map(of_name).collect();
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
