use std::convert::Infallible;

use tfoci::blob::{self, File, Memory, ReadError};
use tfoci::digest::Digest;
use tfoci::error::Category;
use tfoci::event::Transfer;
use tfoci::store::{Lookup, PutError};

use super::{User, length, name_at, noise};
use crate::support::registry::quirks::Location;
use crate::support::registry::{
    Access, Door, Fault, Personality, Quirks, Registry, Seen, Setup, matching,
};

const KIB: usize = 1 << 10;
const PATCHES: fn(&Seen) -> bool = |seen| seen.method == "PATCH";

/// A PUT that has the bytes of a blob.
fn in_one_piece(seen: &Seen) -> bool {
    seen.method == "PUT" && seen.path.contains("/uploads/") && length(seen) > 0
}

/// The PUT that completes an upload in chunks.
fn closing(seen: &Seen) -> bool {
    seen.method == "PUT" && seen.path.contains("/uploads/") && length(seen) == 0
}

/// A registry behind a proxy that refuses every blob in one piece.
fn behind_a_proxy(alter: impl FnOnce(&mut Quirks)) -> Registry {
    let setup = Setup::of(Personality::Plain).quirks(alter);
    let registry = setup.access(Access::of(Personality::Quay)).start();
    registry.always(in_one_piece, Fault::status(413));
    registry
}

/// Uploads bytes.
async fn put(registry: &Registry, bytes: &[u8]) -> Result<Transfer, PutError<Infallible>> {
    let user = User::of(registry, "acme/demo");
    let destination = user.destination();
    let blob = Memory::new(bytes.to_vec());
    destination.put_blob(&blob, Lookup::First).await
}

/// Uploads bytes and asserts that the registry has them.
#[track_caller]
fn assert_arrived(registry: &Registry, bytes: &[u8]) {
    let digest = Digest::of(bytes).to_string();
    let there = registry.repository("acme/demo", |all| all.blobs.get(&digest).cloned());
    let is_there = there.is_some_and(|there| there == bytes);
    assert!(is_there, "{:#?}", said(registry));
    registry.assert_no_leaks();
}

/// Uploads 300 KiB, which arrive.
async fn arrives(registry: &Registry) {
    let bytes = noise(300 * KIB);
    put(registry, &bytes).await.unwrap();
    assert_arrived(registry, &bytes);
}

/// Each request of the uploads in short form.
fn said(registry: &Registry) -> Vec<String> {
    let seen = registry.seen().into_iter();
    let seen = seen.filter(|seen| seen.path.contains("/uploads/"));
    seen.map(|seen| {
        let range = seen.header("content-range").unwrap_or("-");
        let status = seen.status.map(|status| status.to_string());
        let status = status.as_deref().unwrap_or("lost");
        format!("{} {range} {} {status}", seen.method, length(&seen))
    })
    .collect()
}

#[tokio::test]
async fn a_blob_that_is_too_large_and_all_later_ones_are_sent_in_chunks() {
    let registry = behind_a_proxy(|_| {});
    let user = User::of(&registry, "acme/demo");
    let destination = user.destination();
    let (one, two) = (noise(5 << 20), noise((4 << 20) + 1));
    for bytes in [&one, &two] {
        let blob = Memory::new(bytes.clone());
        let put = destination.put_blob(&blob, Lookup::First);
        assert_eq!(put.await.unwrap(), Transfer::Copied);
        assert_arrived(&registry, bytes);
    }
    // The proxy closes the connection when it answers, so that an answer may be lost, and the attempt repeated.
    let said = said(&registry);
    let refused = said.iter().rposition(|one| one == "PUT - 5242880 413");
    assert_eq!(
        said[refused.unwrap() + 1..],
        [
            "POST - 0 202",
            "PATCH 0-4194303 4194304 202",
            "PATCH 4194304-5242879 1048576 202",
            "PUT - 0 201",
            "POST - 0 202",
            "PATCH 0-4194303 4194304 202",
            "PATCH 4194304-4194304 1 202",
            "PUT - 0 201",
        ]
    );
}

#[tokio::test]
async fn long_blobs_go_in_chunks_of_four_mebibytes() {
    let registry = behind_a_proxy(|_| {});
    let bytes = noise(10 << 20);
    put(&registry, &bytes).await.unwrap();
    assert_arrived(&registry, &bytes);
    let seen = registry.seen().into_iter().filter(PATCHES);
    let lengths: Vec<u64> = seen.map(|seen| length(&seen)).collect();
    assert_eq!(lengths, [4 << 20, 4 << 20, 2 << 20]);
}

#[tokio::test]
async fn a_refused_chunk_is_sent_again_in_shorter_ones() {
    let registry = behind_a_proxy(|quirks| quirks.largest_patch = Some(100 << 10));
    arrives(&registry).await;
}

#[tokio::test]
async fn after_a_cut_chunk_the_upload_begins_again() {
    let registry = behind_a_proxy(|quirks| quirks.keeps_partial = true);
    registry.fault(1, PATCHES, Fault::CutRequest(1000));
    arrives(&registry).await;
    assert_eq!(
        said(&registry)[2..],
        [
            "POST - 0 202",
            "PATCH 0-307199 307200 lost",
            "POST - 0 202",
            "PATCH 0-307199 307200 202",
            "PUT - 0 201",
        ]
    );
}

#[tokio::test]
async fn a_request_whose_answer_was_lost_is_not_repeated() {
    let registry = behind_a_proxy(|_| {});
    registry.fault(1, closing, Fault::LostAnswer);
    arrives(&registry).await;
    assert_eq!(registry.count(PATCHES), 1);
    // One of them is the attempt in one request.
    assert_eq!(registry.count(matching("POST", "/uploads/")), 2);
    let registry = Registry::plain();
    registry.fault(1, in_one_piece, Fault::LostAnswer);
    arrives(&registry).await;
    assert_eq!(registry.count(in_one_piece), 1);
}

/// A proxy whose disk is full.
#[tokio::test]
async fn a_repeated_500_is_reported_as_such() {
    let registry = behind_a_proxy(|_| {});
    registry.always(PATCHES, Fault::status(500));
    // Otherwise the error would be that of the other mode.
    let error = put(&registry, &noise(300 * KIB)).await.unwrap_err();
    assert!(error.to_string().contains("answered 500"), "{error}");
}

#[tokio::test]
async fn every_answer_may_give_another_location() {
    for location in [Location::Absolute, Location::Path, Location::Relative] {
        for elsewhere in [false, true] {
            let registry = behind_a_proxy(|quirks| {
                (quirks.location, quirks.upload_state) = (location, true);
                quirks.uploads_elsewhere = elsewhere;
                quirks.largest_patch = Some(100 << 10);
            });
            registry.fault(2, PATCHES, Fault::status(503));
            arrives(&registry).await;
            let door = [Door::Front, Door::Elsewhere][usize::from(elsewhere)];
            // Two are too long, one is throttled, and four have the bytes.
            assert_eq!(registry.count(|seen| PATCHES(seen) && seen.door == door), 7);
        }
    }
    let registry = behind_a_proxy(|_| {});
    registry.always(PATCHES, Fault::without("location"));
    registry.always(closing, Fault::without("location"));
    arrives(&registry).await;
}

#[tokio::test]
async fn a_registry_that_refuses_chunks_gets_the_blob_in_one_request() {
    // tfoci knows neither host, so it must detect what they support.
    for (personality, patches) in [(Personality::Gar, 1), (Personality::Ghcr, 2)] {
        let setup = Setup::of(personality).access(Access::Open);
        let registry = setup.create("acme/demo").start();
        let user = User::of(&registry, name_at(personality));
        let destination = user.destination();
        registry.storm(2, in_one_piece, Fault::CutRequest(1000));
        let blob = Memory::new(noise(5 << 20));
        let put = destination.put_blob(&blob, Lookup::First);
        assert_eq!(put.await.unwrap(), Transfer::Copied, "{personality:?}");
        assert_eq!(registry.count(PATCHES), patches, "{personality:?}");
        assert_eq!(registry.count(in_one_piece), 3, "{personality:?}");
    }
}

#[tokio::test]
async fn a_throttled_upload_does_not_send_more_requests() {
    for fault in [Fault::too_many_requests("0"), Fault::secondary_limit()] {
        let registry = Registry::plain();
        registry.storm(3, in_one_piece, fault);
        arrives(&registry).await;
        assert_eq!(registry.count(PATCHES), 0);
    }
}

#[tokio::test]
async fn an_upload_of_wrong_bytes_is_never_completed() {
    for chunked in [false, true] {
        let registry = match chunked {
            true => behind_a_proxy(|_| {}),
            false => Registry::plain(),
        };
        let user = User::of(&registry, "acme/demo");
        let path = user.path("changed");
        std::fs::write(&path, noise(300 * KIB)).unwrap();
        let mut promised = noise(300 * KIB);
        promised[10] ^= 1;
        let destination = user.destination();
        let blob = File::claimed(path, tfoci::release::Expected::of(&promised).digest).unwrap();
        let put = destination.put_blob(&blob, Lookup::First);
        let PutError::Source(ReadError::Blob(error)) = put.await.unwrap_err() else {
            panic!("not an error of the blob");
        };
        assert!(matches!(error, blob::Error::Digest { .. }), "{error}");
        assert_eq!(registry.count(closing), 0);
        // Another attempt would fail in the same way.
        assert!(registry.count(in_one_piece) <= 1);
        assert!(registry.repository("acme/demo", |all| all.blobs.is_empty()));
    }
}

#[tokio::test]
async fn a_single_fault_at_any_request_is_retried() {
    let sorts: [fn(&Seen) -> bool; 4] = [
        |seen| seen.method == "POST" && seen.authorization().is_some(),
        PATCHES,
        closing,
        |seen| seen.path == "/token",
    ];
    let faults = [
        Fault::Reset,
        Fault::LostAnswer,
        Fault::CutRequest(10_000),
        Fault::ExpiredToken,
        Fault::status(502),
        Fault::too_many_requests("0"),
        Fault::secondary_limit(),
    ];
    let mut all = Vec::new();
    for sort in sorts {
        for nth in [1, 2] {
            all.extend(faults.clone().map(|fault| async move {
                let registry = behind_a_proxy(|quirks| {
                    quirks.keeps_partial = nth == 2;
                    quirks.largest_patch = Some(100 << 10);
                });
                registry.fault(nth, sort, fault);
                let bytes = noise(200 * KIB);
                let put = put(&registry, &bytes).await;
                assert!(put.is_ok(), "{put:?} {:#?}", said(&registry));
                assert_arrived(&registry, &bytes);
            }));
        }
    }
    futures_util::future::join_all(all).await;
}

#[tokio::test]
async fn a_permanent_refusal_is_not_retried() {
    for status in [401, 403] {
        let registry = behind_a_proxy(|_| {});
        registry.always(PATCHES, Fault::status(status));
        let error = put(&registry, &noise(300 * KIB)).await.unwrap_err();
        let PutError::Store(error) = error else {
            panic!("{error}");
        };
        assert_eq!(error.category(), Category::Unauthorized, "{error}");
        assert!(registry.count(PATCHES) <= 2);
        assert_eq!(registry.count(in_one_piece), 1);
    }
}
