use idem::idempotent;

/// As in the SDK.
mod svix {
    pub struct Svix;
    pub struct Message;
    pub struct Options;

    impl Svix {
        pub fn message(&self) -> Message {
            Message
        }
    }

    impl Message {
        pub async fn create(&self, app: &str, text: String, options: Option<Options>) -> anyhow::Result<usize> {
            Ok(app.len() + text.len() + usize::from(options.is_some()))
        }
    }
}

struct Order {
    id: String,
}

#[idempotent(key = "order:<order.id>")]
async fn notify(order: Order, svix: &svix::Svix) -> anyhow::Result<usize> {
    svix.message().create("app", order.id, None).await
}

fn main() {}
