use std::marker::PhantomData;

use idem::KeyPart;

#[derive(KeyPart)]
struct Typed<T> {
    of: PhantomData<T>,
}

fn main() {
    let _ = Typed::<u8> { of: PhantomData };
}
