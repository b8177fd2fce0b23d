use idem::idempotent;

#[idempotent(key = "msg:<delivery.delivery_tag()>")]
async fn handle(delivery: Delivery) -> Result<(), idem::Error> {
    Ok(println!("{}", delivery.tag))
}

struct Delivery {
    tag: u64,
}

impl Delivery {
    const fn delivery_tag(&self) -> u64 {
        self.tag
    }
}

fn main() {
    let _ = (handle, Delivery::delivery_tag);
}
