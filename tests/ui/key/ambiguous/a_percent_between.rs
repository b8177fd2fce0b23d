use idem::idempotent;

#[idempotent(key = "order:<customer>%2F<order>")]
async fn charge(customer: String, order: String) -> Result<usize, idem::Error> {
    Ok(customer.len() + order.len())
}

fn main() {}
