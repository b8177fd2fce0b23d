use idem::KeyPart;

#[derive(KeyPart)]
union Id {
    number: u64,
    digest: [u8; 8],
}

fn main() {
    let _ = Id { number: 1 };
    let _ = Id { digest: [0; 8] };
}
