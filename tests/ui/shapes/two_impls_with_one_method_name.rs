use idem::idempotent;

struct Orders;
struct Refunds;

impl Orders {
    #[idempotent(key = "order:<order>")]
    fn handle(&self, order: u64) -> Result<u64, idem::Error> {
        Ok(order + 1)
    }
}

impl Refunds {
    #[idempotent(key = "order:<order>")]
    fn handle(&self, order: u64) -> Result<u64, idem::Error> {
        Ok(order + 2)
    }
}

fn main() {
    let _ = (Orders.handle(1), Refunds.handle(1));
}
