use idem::idempotent;

/// As in the crate.
macro_rules! nanoid {
    () => {
        "V1StGXR8_Z5jdHi6B".to_owned()
    };
}

struct Webhook {
    body_id: String,
    text: String,
}

struct Dispatch {
    dedup_id: String,
    text: String,
}

fn dispatch(event: Dispatch) -> anyhow::Result<()> {
    println!("{} {}", event.dedup_id, event.text);
    Ok(())
}

#[idempotent(key = "webhook:<hook.body_id>")]
fn receive(hook: Webhook) -> anyhow::Result<()> {
    let id = nanoid!();
    dispatch(Dispatch { dedup_id: format!("evt_{id}"), text: hook.text })
}

fn main() {}
