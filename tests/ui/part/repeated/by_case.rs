use idem::KeyPart;

#[derive(KeyPart)]
#[allow(non_camel_case_types)]
enum Version {
    V2,
    v2,
}

fn main() {
    let _ = (Version::V2, Version::v2);
}
