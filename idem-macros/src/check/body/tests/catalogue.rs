//! Everything that the table knows, as people write it, where a key leaves a body.

use super::{refused, silent};

/// In a setter, and through a binding in a header. What stands before `;;` comes first.
#[track_caller]
fn refused_in_both(sources: &[&str]) {
    for source in sources {
        let (before, source) = source.split_once(" ;; ").unwrap_or(("", source));
        refused(&[&format!("{before} api.idempotency_key({source});")]);
        refused(&[&format!("{before} let value = {source}; api.header(\"Idempotency-Key\", value);")]);
    }
}

static IDS_OF_UUID: &[&str] = &[
    "Uuid::new_v4()",
    "uuid::Uuid::new_v4().to_string()",
    "Uuid::new_v4().hyphenated()",
    "Uuid::new_v4().simple().to_string()",
    "Uuid::new_v4().as_hyphenated().to_string()",
    "Uuid::now_v7()",
    "Uuid::new_v7(Timestamp::from_unix(NoContext, 1, 2))",
    "Uuid::now_v1(&node)",
    "Uuid::now_v6(&node)",
    "Uuid::new_v1(Timestamp::now(&ctx), &node)",
    "let ctx = ContextV1::new_random(); ;; Uuid::new_v1(Timestamp::from_unix(&ctx, 1, 2), &node)",
    "let ctx = ContextV7::new(); ;; Uuid::new_v7(Timestamp::from_unix(&ctx, 1, 2))",
    "Timestamp::now(ctx)",
    "NonNilUuid::new_v4()",
    "NonNilUuid::now_v7().get()",
    "Builder::from_random_bytes(rand::random()).into_uuid()",
    "uuid::Builder::from_unix_timestamp_millis(ms, &rnd).into_uuid()",
    "Uuid::default()",
    "Uuid::nil()",
    "Uuid::max()",
    "Uuid::new_v4()?",
    "Uuid::new_v4().as_u128() as u64",
    "Uuid::new_v4().as_u64_pair().0",
    "Uuid::new_v4().to_bytes_le()",
    "Uuid::new_v4().encode_lower(&mut Uuid::encode_buffer())",
    "Uuid::new_v4().urn().to_string()",
    "Uuid::new_v4().into_bytes()",
    "Uuid::new_v4().as_fields().0",
];

#[test]
fn ids_of_uuid() {
    refused_in_both(IDS_OF_UUID);
}

static IDS_OF_OTHERS: &[&str] = &[
    "Ulid::new()",
    "Ulid::r#gen()",
    "Ulid::gen()",
    "Ulid::generate()",
    "ulid::Ulid::new().to_string()",
    "Ulid::with_source(&mut rng)",
    "Ulid::from_datetime(t)",
    "Ulid::from_datetime_with_source(t, rng)",
    "ulid::Generator::new().generate()?",
    "Generator::new().generate_from_datetime(message.at)?",
    "generator.generate_with_source(&mut rng)",
    "Ulid::default()",
    "Ulid::nil()",
    "rusty_ulid::Ulid::generate()",
    "rusty_ulid::generate_ulid_string()",
    "generate_ulid_bytes()",
    "Ulid::next_monotonic(p)",
    "Ulid::next_strictly_monotonic(p)",
    "Ulid::from_timestamp_with_rng(t, rng)",
    "ULID::now()",
    "ferroid::ulid::ULID::from_timestamp(ms)",
    "ULID::from_datetime(t)",
    "ULID::from_timestamp_and_rand(t, r)",
    "thread_local::Ulid::new_ulid()",
    "thread_local::Ulid::new_ulid_mono(f)",
    "generator.next_id(f)",
    "generator.try_next_id(f)",
    "generator.poll_id()",
    "nanoid!()",
    "nanoid!(n)",
    "nanoid!(10, &alphabet)",
    "nanoid::nanoid!()",
    "nanoid::format(nanoid::rngs::default, &A, 10)",
    "nanoid::rngs::default(4)",
    "nanoid::rngs::non_secure(4)",
    "nanoid::rngs::thread_local(4)",
    "cuid::cuid1()",
    "cuid::cuid2()",
    "cuid::cuid1_slug()",
    "cuid2_slug()",
    "cuid::cuid()",
    "cuid2::create_id()",
    "cuid2::cuid()",
    "cuid2::slug()",
    "CuidConstructor::new().create_id()",
    "ksuid::Ksuid::generate().to_base62()",
    "Ksuid::with_payload(p)",
    "rand::random::<Ksuid>()",
    "svix_ksuid::Ksuid::now(None)",
    "Ksuid::new(None::<OffsetDateTime>, None)",
    "Ksuid::new(Some(t), None)",
    "Ksuid::from_seconds(Some(t), None)",
    "KsuidMs::from_millis(Some(t), None)",
    "Ksuid::new_raw(t, None)",
    "xid::new()",
    "scru128::new()",
    "scru128::new_string()",
    "scru128::Generator::new().generate()",
    "generator.generate_or_abort()",
    "generator.generate_or_reset_with_ts(ts)",
    "Generator::new().iter().next()",
    "uuid7::uuid7()",
    "uuid7::uuid4()",
    "uuid7::new_v7()",
    r#""user".create_type_id::<V7>()"#,
    r#""user".create_type_id::<V4>().to_string()"#,
    r#""user".try_create_type_id::<V7>()?"#,
    "TypeIdSuffix::new::<V7>()",
    "TypeIdSuffix::default()",
    "MagicTypeId::default()",
    "TypeSafeId::<User>::new()",
    "TypeSafeId::new_with_type(t)",
    "ObjectId::new().to_hex()",
    "bson::oid::ObjectId::default()",
    "bson::Uuid::new()",
    "bson::Uuid::default()",
    "bson::DateTime::now()",
    "SnowflakeIdGenerator::new(1, 1).generate()",
    "SnowflakeIdGenerator::new(1, 1).real_time_generate()",
    "ids.lazy_generate()",
    "SnowflakeIdBucket::new(1, 1).get_id()",
    "get_time_millis(e)",
    "snowflake::ProcessUniqueId::new()",
    "ProcessUniqueId::default()",
    "snowflaked::Generator::new(1).generate::<u64>()",
    "snowflaked::sync::Generator::new(1).generate::<u64>()",
    "Sonyflake::new()?.next_id()?",
];

#[test]
fn ids_of_others() {
    refused_in_both(IDS_OF_OTHERS);
}

static RANDOM_NUMBERS: &[&str] = &[
    "rand::random::<u64>()",
    "random::<u64>()",
    "rand::random_range(0..9)",
    "rand::random_bool(0.5)",
    "rand::random_ratio(1, 2)",
    "rand::random_iter::<u8>().take(4).collect::<Vec<_>>()",
    "let mut x = [0u8; 16]; rand::fill(&mut x); ;; hex::encode(x)",
    "rand::thread_rng().gen::<u64>()",
    "rand::rng().random::<u64>()",
    "ThreadRng::default().next_u64()",
    "let mut rng = rand::rng(); ;; rng.gen_range(0..9)",
    "rng.gen_range(0..9)",
    "rng.gen_bool(0.5)",
    "rng.random_range(0..9)",
    "rng.random_iter::<u8>().next()",
    "rng.sample(Alphanumeric)",
    "rng.sample_iter(&Alphanumeric).take(3).map(char::from).collect::<String>()",
    "rng.next_u32()",
    "rng.next_u64()",
    "rng.try_next_u64()?",
    "let mut b = [0; 8]; rng.fill_bytes(&mut b); ;; b",
    "let mut b = [0; 8]; rng.try_fill_bytes(&mut b)?; ;; hex(&b)",
    "let mut b = [0; 8]; rng.fill(&mut b); ;; b",
    "StdRng::from_entropy().next_u64()",
    "StdRng::from_os_rng().next_u64()",
    "StdRng::try_from_os_rng()?.next_u64()",
    "rand::make_rng::<StdRng>().next_u64()",
    "SmallRng::from_rng(&mut rand::rng()).next_u64()",
    "rng.fork().next_u64()",
    "OsRng.next_u64()",
    "SysRng.try_next_u64()?",
    "*ids.choose(&mut rand::rng()).unwrap()",
    "ids.choose(&mut rng).unwrap()",
    "ids.choose_multiple(&mut rand::thread_rng(), 3).next()",
    "ids.choose_weighted(&mut rand::rng(), |i| i.w)?",
    r#"let mut ids = message.ids; ids.shuffle(&mut rand::rng()); ;; ids.join("-")"#,
    r#"let mut ids = message.ids; ids.partial_shuffle(&mut rand::rng(), 3); ;; ids.join("-")"#,
    "Alphanumeric.sample_string(&mut rand::rng(), 16)",
    "StdRng::seed_from_u64(message.seed).next_u64()",
    "let mut b = [0; 8]; getrandom::getrandom(&mut b)?; ;; hex::encode(b)",
    "let mut b = [0; 8]; getrandom::fill(&mut b)?; ;; hex::encode(b)",
    "getrandom::u32()?",
    "getrandom::u64()?",
    "fastrand::u32(..)",
    "fastrand::bool()",
    "fastrand::alphanumeric()",
    "fastrand::choice(&ids)",
    "fastrand::Rng::new().u64(..)",
    "fastrand::Rng::default().u64(..)",
    "fastrand::get_seed()",
    "let mut b = [0; 8]; SystemRandom::new().fill(&mut b)?; ;; hex::encode(b)",
    "ring::rand::generate(&rng)?.expose()",
    "let mut b = [0; 8]; aws_lc_rs::rand::fill(&mut b)?; ;; hex::encode(b)",
    "let mut b = [0; 8]; openssl::rand::rand_bytes(&mut b)?; ;; hex::encode(b)",
    "let mut b = [0; 8]; rand_priv_bytes(&mut b)?; ;; hex::encode(b)",
    "std::random::random::<u64>(..)",
    "DefaultRandomSource.next()",
    "unsafe { libc::rand() }",
    "unsafe { arc4random() }",
];

#[test]
fn random_numbers() {
    refused_in_both(RANDOM_NUMBERS);
}

static CLOCKS: &[&str] = &[
    "SystemTime::now()",
    "SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis()",
    "std::time::Instant::now()",
    "UNIX_EPOCH.elapsed()?.as_secs()",
    "SystemTime::UNIX_EPOCH.elapsed()?.as_nanos()",
    "message.created_at.elapsed()",
    "Utc::now().to_rfc3339()",
    "Local::now().timestamp_nanos_opt()",
    "chrono::Utc::now().date_naive()",
    "Utc::today()",
    r#"Local::today().format("%Y%m%d")"#,
    r#"Utc::now().format("%Y%m%d").to_string()"#,
    "DateTime::<Utc>::from(SystemTime::now())",
    "let t: DateTime<Utc> = SystemTime::now().into(); ;; t.timestamp_millis()",
    "OffsetDateTime::now_utc().unix_timestamp_nanos()",
    "OffsetDateTime::now_local()?.to_julian_day()",
    "UtcDateTime::now().format(&Rfc3339)?",
    "time::Timestamp::now()",
    r#"Zoned::now().strftime("%F")"#,
    "Timestamp::now().as_nanosecond()",
    "jiff::tz::TimeZone::system()",
    "Epoch::now()?",
    "quanta::Instant::now()",
    "quanta::Instant::recent()",
    "Clock::new().now()",
    "quanta::Clock::new().raw()",
    "Clock::new().recent()",
    "coarsetime::Instant::recent()",
    "coarsetime::Instant::now_without_cache_update()",
    "coarsetime::Instant::default()",
    "coarsetime::Clock::now_since_epoch().as_secs()",
    "Clock::recent_since_epoch().as_u64()",
    "minstant::Instant::now().as_unix_nanos(&anchor)",
    "Anchor::new()",
    "web_time::SystemTime::now()",
    "tokio::time::Instant::now()",
    "instant::now()",
    "unsafe { _rdtsc() }",
    "rdkafka::message::Timestamp::now()",
    "async_nats::datetime::now()",
    "FileTime::now()",
    "opentelemetry::time::now()",
    "ClockId::CLOCK_REALTIME.now()",
    "unsafe { libc::time(ptr::null_mut()) }",
    "clock_gettime(ClockId::CLOCK_REALTIME)?",
    "js_sys::Date::now()",
    "humantime::format_rfc3339(SystemTime::now())",
    "httpdate::fmt_http_date(SystemTime::now())",
    "Utc::now().timestamp() / 300",
    r#"Utc::now().format("%M")"#,
    "self.clock.now()",
    "Utc::now().timestamp_subsec_micros()",
    "Utc::now().naive_utc().time()",
    "Utc::now().signed_duration_since(message.at).num_seconds()",
    "(Utc::now() - message.at).num_seconds()",
    "Instant::now().duration_since(start).as_secs_f64().to_bits()",
    "OffsetDateTime::now_utc().to_calendar_date().0",
];

#[test]
fn clocks() {
    refused_in_both(CLOCKS);
}

static PROCESSES_COUNTERS_AND_ADDRESSES: &[&str] = &[
    "std::process::id()",
    "process::id()",
    "unsafe { libc::getpid() }",
    "nix::unistd::getpid()",
    "std::os::unix::process::parent_id()",
    "thread::current().id()",
    "std::thread::current().name()",
    "tokio::task::id()",
    "tokio::task::try_id()",
    "hostname::get()?",
    "gethostname::gethostname()",
    r#"env::var("HOSTNAME")?"#,
    r#"env::var("POD_NAME").unwrap_or_default()"#,
    r#"std::env::var("AWS_LAMBDA_LOG_STREAM_NAME")?"#,
    r#"env::var_os("POD_UID")"#,
    "listener.local_addr()?",
    r#"env::var("GIT_SHA")?"#,
    r#"env::var("BUILD_ID")?"#,
    r#"env!("CARGO_PKG_VERSION")"#,
    r#"env!("VERGEN_GIT_SHA")"#,
    r#"option_env!("GIT_SHA")"#,
    "line!()",
    "column!()",
    "file!()",
    "TypeId::of::<T>()",
    "Location::caller()",
    "mem::discriminant(&e)",
    "context.request_id",
    "event.context.request_id",
    "lambda_event.context.request_id.clone()",
    "context.deadline",
    "context.xray_trace_id",
    "tracing::Span::current().id()",
    "Span::current().context().span().span_context().trace_id()",
    "cx.span().span_context().trace_id()",
    "N.fetch_add(1, Ordering::Relaxed)",
    "N.fetch_sub(1, Relaxed)",
    "N.fetch_update(a, b, f)",
    "N.swap(1, Relaxed)",
    "N.compare_exchange(1, 2, a, b)",
    r#"format!("{:p}", &message)"#,
    r#"format!("{:#p}", &message)"#,
    "&message as *const Message as usize",
    "&raw const message as usize",
    "std::ptr::from_ref(&message).addr()",
    "Arc::as_ptr(&shared)",
    "Rc::as_ptr(&shared) as usize",
    "Box::into_raw(b) as usize",
    "message.body.as_ptr() as usize",
    "task.attempt()",
    "NamedTempFile::new()?.path()",
    "tempfile::tempdir()?.path()",
    "tempfile::Builder::new().tempfile()?.path()",
    "TempDir::new()?.path()",
    "s3.get_object().bucket(b).presigned(c).await?.uri()",
];

#[test]
fn processes_counters_and_addresses() {
    refused_in_both(PROCESSES_COUNTERS_AND_ADDRESSES);
}

static HASHERS: &[&str] = &[
    "RandomState::new().hash_one(x)",
    "RandomState::default().build_hasher().finish()",
    "map.hasher().hash_one(x)",
    "let mut h = DefaultHasher::new(); message.id.hash(&mut h); ;; h.finish()",
    "let mut h = DefaultHasher::default(); message.id.hash(&mut h); ;; h.finish()",
    "BuildHasherDefault::<DefaultHasher>::default().hash_one(x)",
    "ahash::RandomState::with_seed(1).hash_one(x)",
    "ahash::RandomState::with_seeds(1, 2, 3, 4).hash_one(x)",
    "let mut h = AHasher::default(); h.write(b); ;; h.finish()",
    "foldhash::fast::RandomState::default().hash_one(x)",
    "foldhash::fast::FixedState::default().hash_one(x)",
    "SeedableRandomState::random().hash_one(x)",
    "let mut h = FxHasher::default(); message.id.hash(&mut h); ;; h.finish()",
    "FxBuildHasher.hash_one(x)",
    "FxBuildHasher::default().hash_one(x)",
    "FxRandomState::default().hash_one(x)",
];

#[test]
fn hashers() {
    refused_in_both(HASHERS);
}

static SALTED_VALUES: &[&str] = &[
    "bcrypt::hash(p, 4)?",
    "argon2.hash_password(p, &SaltString::generate(&mut OsRng))?.to_string()",
    "let salt = SaltString::generate(&mut OsRng); ;; Argon2::default().hash_password(p, &salt)?.to_string()",
    "let nonce = Aes256Gcm::generate_nonce(&mut OsRng); ;; cipher.encrypt(&nonce, id)?",
];

#[test]
fn salted_values() {
    refused_in_both(SALTED_VALUES);
}

static DEFAULTS: &[&str] = &[
    "bson::Uuid::default()",
    "V7::default()",
    "EventBuilderV10::default().build()?.id()",
    "RandomId::default()",
    "JobId::random()",
    "quanta::Clock::default().now()",
    "fastrand::Rng::default().u64(..)",
    "xid::Id::default()",
    "scru128::Id::default()",
    "Default::default()",
    "message.key.unwrap_or_default()",
    "message.key.unwrap_or_else(Uuid::new_v4)",
    "DateTime::<Utc>::default().to_rfc3339()",
    "std::mem::take(&mut message.key).unwrap_or_default()",
];

#[test]
fn defaults() {
    refused_in_both(DEFAULTS);
}

static WHAT_IS_MADE_OF_THE_MESSAGE_ALONE_IS_SILENT: &[&str] = &[
    "let id = Uuid::new_v5(&Uuid::NAMESPACE_OID, message.id.as_bytes()); api.idempotency_key(id);",
    "let id = Uuid::new_v3(&Uuid::NAMESPACE_URL, message.id.as_bytes()); api.idempotency_key(id);",
    "let id = Uuid::new_v8(message.raw); api.idempotency_key(id);",
    r#"let id = "user".create_type_id_v5(ns, &message.id); api.idempotency_key(id);"#,
    "let id = Ulid::from_string(&message.id)?; api.idempotency_key(id);",
    "let id = Ulid::from_parts(message.at, message.n); api.idempotency_key(id);",
    r#"let id = uuid!("67e55044-10b1-426f-9247-bb680e5fe0c8"); api.header("Idempotency-Key", format!("{id}:{}", message.id));"#,
    "let id = Sqids::default().encode(&[message.n])?; api.idempotency_key(id);",
    "let id = blake3::hash(message.id.as_bytes()).to_hex().to_string(); api.idempotency_key(id);",
    "let id = hex::encode(Sha256::digest(message.id.as_bytes())); api.idempotency_key(id);",
    "let id = message.id.trim().to_lowercase(); api.idempotency_key(id);",
    r#"let rng = ChaCha20Rng::seed_from_u64(message.seed); let mut rng = rng; api.idempotency_key(format!("{}-{}", message.id, "x")); sleep(rng.next());"#,
    "let mut rng = ChaCha20Rng::seed_from_u64(message.seed); api.idempotency_key(rng.random::<u64>());",
    "let mut rng = ChaCha8Rng::from_seed(message.seed); let pick = message.items.choose(&mut rng).unwrap(); api.idempotency_key(&pick.id);",
    r#"let mut rng = fastrand::Rng::with_seed(message.seed); let n = rng.u64(..); api.idempotency_key(format!("{}:{n}", message.id));"#,
];

#[test]
fn what_is_made_of_the_message_alone_is_silent() {
    silent(WHAT_IS_MADE_OF_THE_MESSAGE_ALONE_IS_SILENT);
}
