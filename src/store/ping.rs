//! Whether a store answers at all, before anything is asked of it.

use super::{Endpoint, Error, Registry};

impl Endpoint {
    /// Asks a registry whether it answers, and whether it accepts the credentials of the repositories, as far as these are known without the
    /// name of a provider. A directory is not looked at: [`Endpoint::read`] does that.
    ///
    /// # Errors
    /// The registry cannot be reached, or refuses the credentials.
    pub async fn ping(&self, registry: &Registry) -> Result<(), Error> {
        let example = self.template().and_then(|template| template.placeholder());
        match example {
            Some(repository) => registry.ping(&repository).await,
            None => Ok(()),
        }
    }
}
