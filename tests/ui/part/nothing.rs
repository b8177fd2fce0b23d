use idem::KeyPart;

#[derive(KeyPart)]
struct Refund;

fn main() {
    let kind = Refund;
    let _ = idem::key!("kind:<kind>"); // still a part: exactly one error above
}
