//! Keys that are made expensive to check. They fail their own version and delay no other.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::LINUX;
use super::origin_scene::{ARRIVED, OriginScene};
use crate::support::author::Author;
use crate::support::keygrammar::{
    DSA, Signature, armoured, certificate, detached, dsa, key_id, packet, subpacket,
};
use crate::support::origin::{Fault, Provider, Release, asks};
use crate::support::release::ReleaseFolder;
use crate::support::signal::send;
use crate::support::wait::wait;

const NUMBERS: [u16; 2] = [512, 512];

/// The longest time that a run may take, even on slow machines. Without limits in tfoci, it would take minutes to days.
const LONGEST: Duration = Duration::from_secs(60);

/// A provider whose key is of this kind.
fn busy(name: &str, primary: &[u8], signatures: u32) -> Provider {
    let folder = ReleaseFolder::new(name, "1.0.0").platform(LINUX);
    let key = armoured(&certificate(primary, &NUMBERS, signatures));
    Provider::new(&format!("acme/{name}")).release(Release::from(folder).keys(&[&key]))
}

/// An origin of an honest provider and of several with expensive keys.
fn with_busy(names: &[String], primary: &[u8], signatures: u32) -> OriginScene {
    let busy = names.iter().map(|name| busy(name, primary, signatures));
    let scene = OriginScene::of(busy.chain([super::demo()]));
    for name in names {
        let signature = Fault::body(detached(primary, &NUMBERS));
        let wanted = asks(&format!("signature acme/{name}"));
        scene.origin.always(wanted, signature);
    }
    scene
}

fn addresses(names: &[String]) -> String {
    let addresses = names.iter().map(|name| format!("[ORIGIN]/acme/{name}"));
    addresses.collect::<Vec<_>>().join(" ")
}

#[test]
fn keys_that_cost_more_than_honest_ones_are_refused() {
    let names = ["busy".to_owned()];
    let began = Instant::now();
    // Numbers of the second size are refused without any computation.
    for (primary, signatures) in [(dsa(4_096, 512), 500), (dsa(65_535, 65_000), 1)] {
        let scene = with_busy(&names, &primary, signatures);
        let told = scene.mirror("[ORIGIN]/acme/busy");
        told.says(3, "error [ORIGIN]/acme/busy 1.0.0 [ORIGIN]");
    }
    assert!(began.elapsed() < LONGEST, "{:?}", began.elapsed());
}

#[test]
fn a_provider_with_such_a_key_delays_no_other() {
    let names: Vec<String> = (0..3).map(|place| format!("busy{place}")).collect();
    let scene = with_busy(&names, &dsa(4_096, 512), 55);
    let began = Instant::now();
    let all = format!("{} [ORIGIN]/acme/demo", addresses(&names));
    let said = scene.mirror(&all).ends(3);
    assert!(began.elapsed() < LONGEST, "{:?}", began.elapsed());
    assert!(said.contains("Copied [ORIGIN]/acme/demo 1.0.0"), "{said}");
    assert_eq!(said.matches("\nerror: ").count(), 3, "{said}");
    assert_eq!(scene.installs(), ARRIVED);
}

/// The signal arrives while keys are checked. The check takes many times longer than the run may take after the signal.
#[test]
fn a_signal_ends_a_run_that_checks_such_keys() {
    let names: Vec<String> = (0..16).map(|place| format!("busy{place}")).collect();
    let primary = dsa(4_096, 512);
    let scene = OriginScene::of(names.iter().map(|name| busy(name, &primary, 55)));
    let asked = Arc::new(AtomicUsize::new(0));
    for name in &names {
        let (asked, body) = (Arc::clone(&asked), detached(&primary, &NUMBERS));
        scene.origin.always(
            asks(&format!("signature acme/{name}")),
            Fault::alter(move |answer| {
                answer.body = body.clone().into();
                asked.fetch_add(1, Ordering::SeqCst);
            }),
        );
    }
    let mirror = "mirror --ca-file ca.pem --to oci-layout:store";
    let line = scene.named(&format!("{mirror} {}", addresses(&names)));
    let run = scene.piped(line).spawn().unwrap();
    wait(|| asked.load(Ordering::SeqCst) >= 4, String::new);
    // Core dumps are disabled, so secrets in memory are not written to disk.
    #[cfg(target_os = "linux")]
    {
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", run.id())).unwrap();
        let mut lines = limits.lines();
        let core = lines.find(|line| line.starts_with("Max core file size"));
        let words: Vec<&str> = core.unwrap().split_whitespace().collect();
        assert_eq!(words[4..6], ["0", "0"], "{limits}");
    }
    let began = Instant::now();
    send("INT", run.id());
    let ended = run.wait_with_output().unwrap();
    let took = began.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert_eq!(ended.status.code(), Some(130), "{ended:?}");
}

/// A ring of four megabytes, of which a signature names one certificate with as many subpackets as there may be.
#[cfg(target_os = "linux")]
#[test]
fn large_rings_take_little_memory() {
    // The executable takes 29 MiB for itself in a development build.
    const MOST: u64 = 76 << 10;
    let author = Author::with_release();
    let primary = dsa(2_048, 256);
    let [mut ring, other] = [&primary, &dsa(2_040, 256)].map(|key| certificate(key, &NUMBERS, 1));
    let many = Signature {
        kind: 0x13,
        algorithm: DSA,
        numbers: &NUMBERS,
        issuer: &key_id(&primary),
        at: 9,
        subpackets: subpacket(16, &key_id(&primary)).repeat(120),
        over: Vec::new(),
    };
    ring.extend(packet(2, &many.body()).repeat(500));
    let big = packet(60, &vec![0; (3 << 20) - other.len()]);
    author.write("ring.pgp", [ring, other, big].concat());
    let signature = "dist/terraform-provider-demo_1.0.0_SHA256SUMS.sig";
    author.write(signature, detached(&primary, &NUMBERS));
    let keys = "--key ring.pgp --key ring.pgp";
    let push = format!("push dist --provider acme/demo {keys} --to oci-layout:store");
    let mut run = author.piped(push).spawn().unwrap();
    let (mut peak, path) = (0, format!("/proc/{}/status", run.id()));
    let status = loop {
        let status = std::fs::read_to_string(&path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        peak = peak.max(now.unwrap_or(0));
        if let Some(status) = run.try_wait().unwrap() {
            break status;
        }
    };
    assert_eq!(status.code(), Some(3));
    assert!((1..MOST).contains(&peak), "{peak} KiB");
}
