use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

#[test]
fn results_keep_their_order_and_the_limit_holds() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let results = block_on(Jobs::new(3).run(0..50, |n| {
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, ()>(n * 2)
        }
    }));
    assert_eq!(results, Ok((0..50).map(|n| n * 2).collect()));
    assert!(most.load(Ordering::SeqCst) <= 3);
}

#[test]
fn the_first_error_stops_the_rest() {
    let started = Arc::new(AtomicUsize::new(0));
    let result = block_on(Jobs::new(2).run(0..1000, |n| {
        started.fetch_add(1, Ordering::SeqCst);
        async move { if n == 3 { Err(n) } else { Ok(n) } }
    }));
    assert_eq!(result, Err(3));
    assert!(started.load(Ordering::SeqCst) < 1000);
}
