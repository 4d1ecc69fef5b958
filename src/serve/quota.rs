//! Gives each of many users half of a limit, so that one leaves the rest to others.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

use super::client_network::network;

/// The number of users from which those without a permit are forgotten. A thousand users take about 100 KB.
const LEAST_USERS: usize = 1_000;

/// The quotas of all users, who are told apart by a key.
pub(super) struct Quota<K> {
    /// The permits of one user.
    most: usize,
    users: Mutex<Users<K>>,
}

struct Users<K> {
    /// The free permits of each user.
    all: HashMap<K, Arc<Semaphore>>,
    /// The number of users from which those without a permit are forgotten.
    most: usize,
}

impl<K: Eq + Hash> Quota<K> {
    /// Gives each user half of a limit.
    pub(super) fn half_of(limit: usize) -> Self {
        Self {
            most: (limit / 2).clamp(1, Semaphore::MAX_PERMITS),
            users: Mutex::new(Users {
                all: HashMap::new(),
                most: LEAST_USERS,
            }),
        }
    }

    /// The free permits of a user.
    pub(super) fn of(&self, user: K) -> Arc<Semaphore> {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if users.all.len() >= users.most {
            // A permit refers to the semaphore of its user.
            users
                .all
                .retain(|_, permits| Arc::strong_count(permits) > 1);
            users.most = users.all.len().saturating_mul(2).max(LEAST_USERS);
        }
        let permits = users.all.entry(user);
        permits
            .or_insert_with(|| Arc::new(Semaphore::new(self.most)))
            .clone()
    }
}

/// The quotas of clients. A client is a [network](super::client_network).
pub(super) struct ClientQuota(Quota<IpAddr>);

impl ClientQuota {
    /// Gives each client half of a limit.
    pub(super) fn half_of(limit: usize) -> Self {
        Self(Quota::half_of(limit))
    }

    /// The free permits of a client.
    pub(super) fn of(&self, client: IpAddr) -> Arc<Semaphore> {
        self.0.of(network(client))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_half_of_the_limit_and_others_the_rest() {
        for (limit, half) in [(1, 1), (2, 1), (5, 2), (256, 128)] {
            let quota = ClientQuota::half_of(limit);
            let take = |client: &str| quota.of(client.parse().unwrap()).try_acquire_owned().ok();
            let held: Vec<_> = std::iter::from_fn(|| take("2001:db8::1")).collect();
            assert_eq!(held.len(), half);
            assert!(take("2001:db8::ffff").is_none(), "of the same network");
            assert!(take("2001:db8:0:1::1").is_some());
            drop(held);
            assert!(take("2001:db8::ffff").is_some());
        }
    }

    #[test]
    fn only_users_with_a_permit_are_remembered() {
        let quota = Quota::half_of(4);
        let holders = LEAST_USERS + 10;
        let held: Vec<_> = (0..holders)
            .map(|number| quota.of(number).try_acquire_owned().unwrap())
            .collect();
        for number in holders..10 * holders {
            quota.of(number);
        }
        assert!(quota.users.lock().unwrap().all.len() < 3 * held.len());
        let first = quota.of(0);
        assert_eq!(first.available_permits(), 1, "one of two is held");
    }
}
