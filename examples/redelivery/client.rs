//! The consumers' side of the charges API: a plain HTTP client.

use std::fmt;

use idem::{Disposition, Key};
use reqwest::StatusCode;

use crate::charges_api::{Books, Charge, Receipt};

pub struct Client {
    http: reqwest::Client,
    url: String,
}

impl Client {
    pub fn new(url: &str) -> Result<Self, reqwest::Error> {
        // The API is on loopback, where no proxy could reach it.
        let http = reqwest::Client::builder().no_proxy().build()?;
        Ok(Self { http, url: format!("{url}/charges") })
    }

    /// Charges. Asked twice, it charges twice.
    pub async fn charge(&self, amount: u64) -> Result<Receipt, ChargeError> {
        self.send(self.http.post(&self.url).json(&Charge { amount })).await
    }

    /// Charges once for each key. It takes a `Key`, so nobody can pass a fresh UUID by mistake.
    pub async fn charge_once(&self, amount: u64, key: &Key) -> Result<Receipt, ChargeError> {
        let request = self.http.post(&self.url).header("Idempotency-Key", key.as_str());
        self.send(request.json(&Charge { amount })).await
    }

    /// What the provider's own books say.
    pub async fn books(&self) -> Result<Books, reqwest::Error> {
        self.http.get(&self.url).send().await?.error_for_status()?.json().await
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<Receipt, ChargeError> {
        let response = request.send().await?;
        match response.status() {
            StatusCode::OK => Ok(response.json().await?),
            status => Err(ChargeError::Refused(status)),
        }
    }
}

/// Why there is no receipt.
#[derive(Debug)]
pub enum ChargeError {
    /// The API could not be reached; whether it charged is unknown.
    Http(reqwest::Error),
    /// The API said no.
    Refused(StatusCode),
    /// The handler did not run, or its result could not be read back.
    Idem(idem::Error),
}

impl ChargeError {
    /// What the consumer tells its queue. Errors of its own it has delivered again; idem's say what to do.
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Http(_) => Disposition::RetryAfter(std::time::Duration::from_secs(1)),
            Self::Refused(status) => Disposition::Park(format!("the charges API answered {status}")),
            Self::Idem(error) => error.disposition(),
        }
    }
}

impl From<reqwest::Error> for ChargeError {
    fn from(error: reqwest::Error) -> Self {
        Self::Http(error)
    }
}

/// Where idem's own errors go: the one thing that a handler's error type must be able to do.
impl From<idem::Error> for ChargeError {
    fn from(error: idem::Error) -> Self {
        Self::Idem(error)
    }
}

impl fmt::Display for ChargeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(error) => write!(f, "the charges API could not be reached: {error}"),
            Self::Refused(status) => write!(f, "the charges API answered {status}"),
            Self::Idem(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ChargeError {}
