//! A payment provider: it charges, counts its charges, and honours `Idempotency-Key`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// What a consumer asks for.
#[derive(Serialize, Deserialize)]
pub struct Charge {
    pub amount: u64,
}

/// What it gets: `ch_1`, `ch_2`, … in the order of the charges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    pub id: String,
    pub amount: u64,
}

/// What the provider knows; `GET /charges` shows it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Books {
    pub charges: Vec<Receipt>,
    /// Requests that were answered with the first response to their key.
    pub replayed: usize,
    /// The first response to each key.
    #[serde(skip)]
    answers: HashMap<String, Receipt>,
}

/// A provider that serves on a free port of the loopback interface until it is dropped.
pub struct ChargesApi {
    pub url: String,
    server: JoinHandle<std::io::Result<()>>,
}

impl ChargesApi {
    pub async fn start() -> std::io::Result<Self> {
        let routes = Router::new().route("/charges", post(charge).get(books));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let app = routes.with_state(Arc::<Mutex<Books>>::default());
        let server = tokio::spawn(axum::serve(listener, app).into_future());
        Ok(Self { url, server })
    }
}

impl Drop for ChargesApi {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn charge(
    State(books): State<Arc<Mutex<Books>>>,
    headers: HeaderMap,
    Json(asked): Json<Charge>,
) -> Result<Json<Receipt>, StatusCode> {
    let key = match headers.get("idempotency-key") {
        Some(key) => Some(key.to_str().map_err(|_| StatusCode::BAD_REQUEST)?),
        None => None,
    };
    // One lock around look-up and charge: two requests with one key at once make one charge.
    let mut books = books.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(first) = key.and_then(|key| books.answers.get(key)).cloned() {
        if first.amount != asked.amount {
            return Err(StatusCode::UNPROCESSABLE_ENTITY);
        }
        books.replayed += 1;
        return Ok(Json(first));
    }
    let receipt = Receipt { id: format!("ch_{}", books.charges.len() + 1), amount: asked.amount };
    books.charges.push(receipt.clone());
    if let Some(key) = key {
        books.answers.insert(key.to_owned(), receipt.clone());
    }
    Ok(Json(receipt))
}

async fn books(State(books): State<Arc<Mutex<Books>>>) -> Json<Books> {
    Json(books.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{ChargeError, Client};
    use idem::Key;

    async fn api() -> (ChargesApi, Client) {
        let api = ChargesApi::start().await.unwrap();
        let client = Client::new(&api.url).unwrap();
        (api, client)
    }

    fn key(text: &str) -> Key {
        Key::trusted(text, "a test's own").unwrap()
    }

    #[tokio::test]
    async fn without_a_key_each_request_is_a_charge() {
        let (_api, client) = api().await;
        let (first, second) = (client.charge(450).await.unwrap(), client.charge(450).await.unwrap());
        assert_eq!((first.id.as_str(), second.id.as_str()), ("ch_1", "ch_2"));
    }

    #[tokio::test]
    async fn a_known_key_gets_the_first_response_and_no_charge() {
        let (_api, client) = api().await;
        let first = client.charge_once(450, &key("msg:1")).await.unwrap();
        let second = client.charge_once(450, &key("msg:1")).await.unwrap();
        let other = client.charge_once(450, &key("msg:2")).await.unwrap();
        assert_eq!(first, second);
        assert_ne!(first, other);
        let books = client.books().await.unwrap();
        assert_eq!((books.charges, books.replayed), (vec![first, other], 1));
    }

    #[tokio::test]
    async fn another_payload_under_a_known_key_is_refused() {
        let (_api, client) = api().await;
        client.charge_once(450, &key("msg:1")).await.unwrap();
        let refused = client.charge_once(451, &key("msg:1")).await.unwrap_err();
        assert!(matches!(refused, ChargeError::Refused(StatusCode::UNPROCESSABLE_ENTITY)), "{refused}");
        assert_eq!(client.books().await.unwrap().charges.len(), 1);
    }
}
