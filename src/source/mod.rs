//! Sources: what gives releases.
//!
//! | source | where |
//! | --- | --- |
//! | [`folder`] | the folder that a provider's release process leaves behind |

pub mod folder;
