use idem::idempotent;

/// As in the crate.
mod chrono {
    pub struct Utc;
    pub struct DateTime;

    impl Utc {
        pub fn now() -> DateTime {
            DateTime
        }
    }

    impl DateTime {
        pub fn date_naive(&self) -> String {
            "2026-01-01".to_owned()
        }
    }
}

use chrono::Utc;

struct Charge {
    id: String,
    patient: u64,
}

#[idempotent(key = "charge:<charge.id>")]
async fn take(charge: Charge) -> anyhow::Result<()> {
    let today = Utc::now().date_naive();
    let key = format!("{}-{}", charge.patient, today);
    reqwest::Client::new().post("https://pay.example/charges").header("Idempotency-Key", key).send().await?;
    Ok(())
}

fn main() {}
