use idem::idempotent;

struct Parent {
    id: String,
}

struct Message {
    id: String,
    parent: Option<Parent>,
    order: Option<String>,
    amount: Option<u64>,
}

#[idempotent(key = "order:<message.order.as_ref().unwrap()>")]
fn of_a_reference(message: &Message) -> Result<(), idem::Error> {
    Ok(())
}

#[idempotent(key = "order:<message.order.expect(\"an order\")>")]
fn with_words(message: &Message) -> Result<(), idem::Error> {
    Ok(())
}

#[idempotent(key = "parent:<message.parent.unwrap().id>")]
fn a_field_of_it(message: &Message) -> Result<(), idem::Error> {
    Ok(())
}

#[idempotent(key = "parent:<message.parent.expect(\"a parent\").id>")]
fn a_field_of_it_with_words(message: &Message) -> Result<(), idem::Error> {
    Ok(())
}

#[idempotent(key = "msg:<message.id>", payload(message.amount.unwrap()))]
fn in_the_payload(message: &Message) -> Result<(), idem::Error> {
    Ok(())
}

fn main() {}
