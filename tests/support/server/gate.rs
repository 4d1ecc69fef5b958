//! Gates: a test holds answers back, whole or in part, and releases them later.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::fault::Fault;

/// A gate that holds answers back. Each answer has a name. The server sends as many bytes of its body as the gate admits for that name.
/// Before the gate admits any, not even the headers are sent.
#[derive(Clone, Default)]
pub struct Gate(Arc<Mutex<Admitted>>);

#[derive(Default)]
struct Admitted {
    bytes: HashMap<String, usize>,
    waiting: Vec<Waker>,
}

/// One answer at a gate.
#[derive(Clone)]
pub struct Place {
    gate: Gate,
    name: String,
}

impl Gate {
    /// A fault: answers with it wait at this gate under a name.
    pub fn holds(&self, name: &str) -> Fault {
        Fault::Held(Place {
            gate: self.clone(),
            name: name.to_owned(),
        })
    }

    /// Admits the first `bytes` bytes of answers with this name.
    pub fn admit(&self, name: &str, bytes: usize) {
        let mut admitted = self.admitted();
        admitted.bytes.insert(name.to_owned(), bytes);
        for waiting in admitted.waiting.drain(..) {
            waiting.wake();
        }
    }

    /// Admits answers with this name completely.
    pub fn open(&self, name: &str) {
        self.admit(name, usize::MAX);
    }

    fn admitted(&self) -> MutexGuard<'_, Admitted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Waits until the answer may begin.
    pub(super) async fn begin(&self) {
        std::future::poll_fn(|context| self.poll_beyond(None, context).map(|_| ())).await;
    }

    /// The number of admitted bytes, as soon as it exceeds the number of sent ones.
    pub(super) fn poll_beyond(
        &self,
        sent: Option<usize>,
        context: &mut Context<'_>,
    ) -> Poll<usize> {
        let mut admitted = self.gate.admitted();
        match admitted.bytes.get(&self.name).copied() {
            Some(bytes) if sent.is_none_or(|sent| bytes > sent) => Poll::Ready(bytes),
            _ => {
                admitted.waiting.push(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// Prints the name only, since the admitted bytes change.
impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "held as {}", self.name)
    }
}
