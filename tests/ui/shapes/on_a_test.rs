use idem::idempotent;

#[idempotent(key = "t:")]
#[test]
fn works() -> Result<(), idem::Error> {
    Ok(())
}

fn main() {}
