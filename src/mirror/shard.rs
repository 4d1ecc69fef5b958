//! Shards: the parts of a mirror that jobs work on side by side.

use std::str::FromStr;

use super::Task;

/// One of several equal parts, written `I/N` and counted from 1. `0/N` is the last one, because an Indexed Job of Kubernetes counts from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Counted from 0, in contrast to the text.
    index: usize,
    count: usize,
}

impl Shard {
    /// The tasks of this shard. All tasks of one provider are in the same one, so that no two jobs write one repository; the
    /// shards of a list have the same size, give or take one.
    pub fn of(self, mut tasks: Vec<Task>) -> Vec<Task> {
        let mut providers: Vec<_> = tasks.iter().map(|task| task.provider.clone()).collect();
        providers.sort();
        providers.dedup();
        tasks.retain(|task| {
            providers
                .binary_search(&task.provider)
                .is_ok_and(|place| place % self.count == self.index)
        });
        tasks
    }
}

/// A text that names no shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected I/N, such as 1/4, where I counts from 1 to N")]
pub struct ShardError;

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let numbers = text.split_once('/');
        let numbers = numbers.and_then(|(i, n)| Some((i.parse::<usize>().ok()?, n.parse().ok()?)));
        match numbers {
            Some((shard, count @ 1..)) if shard <= count => Ok(Self {
                index: shard.checked_sub(1).unwrap_or(count - 1),
                count,
            }),
            _ => Err(ShardError),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_count_from_one() {
        let shard = |index, count| Ok(Shard { index, count });
        assert_eq!("1/1".parse(), shard(0, 1));
        assert_eq!("3/4".parse(), shard(2, 4));
        assert_eq!("0/4".parse(), shard(3, 4));
        for text in ["", "1", "0/0", "5/4", "1/0", "-1/2", "1/2/3", "a/b"] {
            assert_eq!(text.parse::<Shard>(), Err(ShardError), "{text}");
        }
    }
}
