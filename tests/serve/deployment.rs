//! The unit of systemd limits what the server may do.

/// How long the server lets downloads go on, by default.
const GRACE: u64 = 60;

/// To listen on port 443, a server needs one capability.
const RIGHTS: &str = "AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
ProtectSystem=strict
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
SystemCallArchitectures=native
SystemCallErrorNumber=EPERM
SystemCallFilter=@system-service
UMask=0077";
const YES: &str = "DynamicUser LockPersonality MemoryDenyWriteExecute NoNewPrivileges PrivateDevices PrivateTmp \
    ProtectClock ProtectControlGroups ProtectHome ProtectHostname ProtectKernelLogs ProtectKernelModules \
    ProtectKernelTunables RestrictNamespaces RestrictRealtime";

#[test]
fn the_unit_of_systemd_has_few_rights() {
    let unit = std::fs::read_to_string("packaging/tfoci.service").unwrap();
    let value = |name: &str| {
        let of_name = |line: &str| Some(line.strip_prefix(name)?.strip_prefix('=')?.to_owned());
        let values: Vec<String> = unit.lines().filter_map(of_name).collect();
        assert_eq!(values.len(), 1, "{name}: {values:?}");
        values.concat()
    };
    let rights = RIGHTS.lines().map(|line| line.split_once('=').unwrap());
    for (name, expected) in rights.chain(YES.split_whitespace().map(|name| (name, "yes"))) {
        assert_eq!(value(name), expected, "{name}");
    }
    let stop: u64 = value("TimeoutStopSec").parse().unwrap();
    assert!(stop > GRACE, "{stop}");
}
