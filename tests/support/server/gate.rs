//! Gates: answers wait, whole or in part, until the test lets them go on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::fault::Fault;

/// A gate in front of answers. Each answer has a name, and goes out up to as many bytes of its body as the gate admits for that name; before
/// that, nothing of it is sent, not even its headers.
#[derive(Clone, Default)]
pub struct Gate(Arc<Mutex<Admitted>>);

#[derive(Default)]
struct Admitted {
    bytes: HashMap<String, usize>,
    waiting: Vec<Waker>,
}

/// The place of one answer at a gate.
#[derive(Clone)]
pub struct Place {
    gate: Gate,
    name: String,
}

impl Gate {
    /// The fault of answers that wait at this gate under a name.
    pub fn holds(&self, name: &str) -> Fault {
        Fault::Held(Place {
            gate: self.clone(),
            name: name.to_owned(),
        })
    }

    /// Admits so many bytes of the answers of this name, in all.
    pub fn admit(&self, name: &str, bytes: usize) {
        let mut admitted = self.admitted();
        admitted.bytes.insert(name.to_owned(), bytes);
        for waiting in admitted.waiting.drain(..) {
            waiting.wake();
        }
    }

    /// Admits one more byte of the answers of each of these names of which a part was admitted, up to so many more than this part.
    pub fn nudge(&self, parts: impl IntoIterator<Item = (&'static str, usize)>, most: usize) {
        for (name, part) in parts {
            let admitted = self.admitted().bytes.get(name).copied();
            if let Some(bytes) = admitted.filter(|bytes| (part..part + most).contains(bytes)) {
                self.admit(name, bytes + 1);
            }
        }
    }

    /// Admits all of the answers of this name.
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

    /// The number of bytes that may be sent, once there are more than were sent.
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

/// Its name: what is admitted changes.
impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "held as {}", self.name)
    }
}
