//! The hosts on the way: whether their names resolve, they can be reached, and the client trusts their certificates.

use std::time::{Duration, SystemTime};

use reqwest::Method;
use reqwest::header::DATE;
use url::Url;

use super::{Code, Doctor, Finding, Step};
use crate::error::Category;
use crate::http::{self, Reason, Request};
use crate::jobs::locked;
use crate::source;
use crate::store::{self, Breach, Declined};

/// How far the clocks of machine and server may differ: certificates and tokens are usually valid for longer.
const SLACK: Duration = Duration::from_secs(300);

impl Doctor {
    /// Asks a host. Any answer will do: the steps after it ask for what they need.
    pub(super) async fn host(&self, url: &Url) -> Result<(), Finding> {
        let request = Request::new(Method::GET, url.clone(), url);
        let answer = self.machine.access.http.send(request).await;
        let date = answer.map_err(|error| of_http(&error))?.header(DATE);
        if let Some(Ok(date)) = date.map(|date| httpdate::parse_http_date(&date)) {
            self.compare_clock(url, date);
        }
        Ok(())
    }

    fn compare_clock(&self, url: &Url, theirs: SystemTime) {
        let apart = SystemTime::now().duration_since(theirs);
        let apart = apart.unwrap_or_else(|error| error.duration());
        let host = url.host_str().unwrap_or_default();
        let mut clock = locked(&self.clock);
        if apart > SLACK {
            let minutes = apart.as_secs() / 60;
            let message =
                format!("the clocks of this machine and of {host} are {minutes} minutes apart");
            *clock = Some(Step::bad("clock", Finding::new(Code::ClockWrong, message)));
        } else if clock.is_none() {
            *clock = Some(Step::good("clock", format!("as that of {host}")));
        }
    }
}

/// The finding about a request that has no answer.
pub(super) fn of_http(error: &http::Error) -> Finding {
    let code = match error {
        http::Error::NoAuthorities => Code::AuthoritiesMissing,
        http::Error::Transport { reason, .. } => match reason {
            Reason::UnknownHost => Code::NameUnknown,
            Reason::Expired => Code::CertificateDate,
            reason if reason.is_tls() => Code::TlsFailed,
            _ => Code::ConnectionFailed,
        },
        _ => Code::ConnectionFailed,
    };
    Finding::of(code, error)
}

/// The finding about a store that fails. `otherwise` is the code of what is about the content of the store.
pub(super) fn of_store(otherwise: Code) -> impl FnOnce(store::Error) -> Box<Finding> {
    move |error| {
        let code = match &error {
            store::Error::Http(error) => return Box::new(of_http(error)),
            store::Error::Credentials(_) => Code::CredentialsUnreadable,
            store::Error::NoRegistry { .. }
            | store::Error::Unread { .. }
            | store::Error::Declined {
                declined: Declined::Request(_),
                ..
            } => Code::UnexpectedAnswer,
            store::Error::Protocol {
                breach: Breach::Link,
                ..
            } => Code::ListLeavesRegistry,
            _ => otherwise,
        };
        Box::new(Finding::of(code, &error))
    }
}

/// The finding about a source that fails. `missing` is the code of something that it does not have.
pub(super) fn of_source(missing: Code) -> impl FnOnce(source::Error) -> Box<Finding> {
    move |error| {
        let code = match &error {
            source::Error::Http(error) => return Box::new(of_http(error)),
            source::Error::NoPlatform { .. } => Code::PlatformMissing,
            source::Error::Disk(error) if error.is_not_found() => Code::DirectoryMissing,
            source::Error::Status { tried: Some(_), .. } => Code::CredentialsRefused,
            source::Error::Credentials(_) => Code::CredentialsUnreadable,
            source::Error::Archive { .. } => Code::ZipRefused,
            error if error.category() == Category::NotFound => missing,
            _ => Code::UnexpectedAnswer,
        };
        Box::new(Finding::of(code, &error))
    }
}
