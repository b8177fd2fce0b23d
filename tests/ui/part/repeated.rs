use idem::KeyPart;

#[derive(KeyPart)]
enum Status {
    Paid,
    #[key(rename = "paid")]
    PaidInFull,
}

fn main() {
    let _ = (Status::Paid, Status::PaidInFull);
}
