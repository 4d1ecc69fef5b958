use std::future::{Ready, ready};

use tokio::sync::oneshot;

use super::*;
use crate::outcome::Problem;

const HOUR: Duration = Duration::from_secs(3_600);

fn cached(fresh: Duration) -> Arc<Cached<(), u8>> {
    let ages = Ages {
        fresh,
        usable: HOUR,
    };
    Arc::new(Cached::new(ages, 8, LONGEST_LOAD, |(), _| 1))
}

async fn until_loading(cached: &Cached<(), u8>) {
    while cached.shelves.get(&()).await.is_none() {
        tokio::task::yield_now().await;
    }
}

/// Of two versions that are mirrored at once, the list after the second must have both.
#[tokio::test]
async fn a_load_that_began_before_an_invalidation_is_not_enough() {
    for is_good in [true, false] {
        let cached = cached(HOUR);
        let (go_on, waits) = oneshot::channel();
        let shared = cached.clone();
        let first = tokio::spawn(async move {
            let load = |_| Some(async move { waits.await.map_err(|_| Problem::NoPackages.into()) });
            let got = shared.get(&(), load).await;
            got.map(|got| *got.value)
        });
        until_loading(&cached).await;
        cached.invalidate(&(), Instant::now()).await;
        let load = |_| Some(ready(Ok(2)));
        let second = cached.get(&(), load).await;
        assert_eq!(*second.unwrap().value, 2);
        match is_good {
            true => go_on.send(1).unwrap(),
            false => drop(go_on),
        }
        assert_eq!(first.await.unwrap().ok(), is_good.then_some(1));
        let load = |_| None::<Ready<_>>;
        let kept = cached.get(&(), load).await.unwrap();
        assert_eq!((*kept.value, kept.is_stale), (2, false));
    }
}

#[tokio::test]
async fn an_old_value_is_used_while_no_new_one_can_be_loaded() {
    let cached = cached(Duration::ZERO);
    let first = cached.get(&(), |_| Some(ready(Ok(1)))).await;
    assert_eq!(*first.unwrap().value, 1);
    let failing = |old: Option<Arc<u8>>| {
        assert_eq!(old.as_deref(), Some(&1));
        Some(ready(Err(Problem::NoPackages.into())))
    };
    let stale = cached.get(&(), failing).await.unwrap();
    assert_eq!((*stale.value, stale.is_stale), (1, true));
    cached.forget(&()).await;
    let failing = |_| Some(ready(Err(Problem::NoPackages.into())));
    let none = cached.get(&(), failing).await;
    assert!(matches!(none, Err(Unavailable::Failed(_))));
}

#[tokio::test]
async fn a_load_goes_on_without_its_clients() {
    let cached = cached(HOUR);
    let (go_on, waits) = oneshot::channel();
    let shared = cached.clone();
    let waiting = tokio::spawn(async move {
        let load = |_| Some(async move { waits.await.map_err(|_| Problem::NoPackages.into()) });
        shared.get(&(), load).await.is_ok()
    });
    until_loading(&cached).await;
    waiting.abort();
    assert!(waiting.await.is_err());
    go_on.send(3).unwrap();
    let got = cached.get(&(), |_| None::<Ready<_>>).await;
    assert_eq!(*got.unwrap().value, 3);
}
