//! Flow, without a compiler.

use super::{begun, findings, followed, need};
use crate::item::Item;

mod catalogue;
mod positions;

fn item(body: &str, last: &str) -> Item {
    let item = format!("async fn charge(message: Message, {last}) -> Result<(), Error> {{ {body} }}");
    let Ok(item) = Item::parse(item.parse().unwrap()) else { panic!("{body}") };
    item
}

/// What is found in a body: the rule's name without its area, and the first line of the message.
fn found(body: &str) -> Vec<String> {
    let item = item(body, "#[attempt] attempt: &Attempt");
    let without = self::item(body, "attempt: Attempt");
    let all = followed(begun(&without).0, &without).len();
    assert_eq!(findings(&without).len(), all, "not parsed, and something is wrong in it: {body}");
    let found = findings(&item).into_iter();
    found
        .map(|finding| format!("{}: {}", finding.rule.name.trim_start_matches("body_"), finding.what))
        .collect()
}

#[track_caller]
fn refused(cases: &[&str]) {
    let wrong: Vec<_> = cases.iter().filter(|case| found(case).len() != 1).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[track_caller]
fn silent(cases: &[&str]) {
    let wrong: Vec<_> = cases.iter().filter(|case| !found(case).is_empty()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_body_is_parsed_only_if_a_key_that_it_sends_could_be_wrong() {
    let parsed = |body: &str| need::is_to_be_parsed(item(body, "amount: u64").text(), false);
    for body in [
        r#"let idempotency_key = format!("{}:{amount}", message.id); api.charge(&idempotency_key).await"#,
        r#"api.post("https://a.b/c").header("Idempotency-Key", key.as_str()).json(&order).send().await.context("no")"#,
        r#"sqlx::query("insert into a values ($1)").bind(message_id); match status { "a" => 1, _ => 2 }"#,
        "let total = Utc::now(); let text = \"a\";",
    ] {
        assert!(!parsed(body), "{body}");
    }
    for body in [
        "api.idempotency_key(Uuid::new_v4())",
        "api.idempotency_key(message.deliveryTag)",
        "api.idempotency_key(\"all\")",
        "COUNTER += 1; api.idempotency_key(COUNTER)",
        "let at = &message as *const Message; api.idempotency_key(at)",
        "use a::Some as query; let text = query(\"all\"); api.idempotency_key(text)",
        "api.idempotency_key(r#\"all\"#)",
        "client.transact_write_items().send()",
    ] {
        assert!(parsed(body), "{body}");
    }
}

#[test]
fn the_message_names_the_call_and_where_its_value_goes() {
    assert_eq!(
        found(r#"post(url).header("Idempotency-Key", Uuid::new_v4().to_string()).send().await?;"#),
        ["fresh_key: `Uuid::new_v4()` in `Idempotency-Key` gives a new id on every attempt"]
    );
    assert_eq!(
        found("queue.send_message().message_deduplication_id(Uuid::new_v4()).send().await?;"),
        ["fresh_dedup_id: `Uuid::new_v4()` in `message_deduplication_id` gives a new id on every attempt"]
    );
    assert_eq!(
        found("let key = Event { event_id: Uuid::now_v7(), order: message.order };"),
        ["fresh_message_id: `Uuid::now_v7()` in `event_id` gives a new id on every attempt"]
    );
    assert_eq!(
        found("request.idempotency_key = message.key.unwrap_or_default();"),
        [
            "default_key: `.unwrap_or_default()` in `idempotency_key` gives one value to every message that has no id, or a new one to each"
        ]
    );
}

#[test]
fn a_key_is_known_by_the_name_of_the_place_that_it_goes_to() {
    refused(&[
        r#"client.header("idempotency-key", Uuid::new_v4());"#,
        r#"client.header("X-Idempotency-Key", Uuid::new_v4());"#,
        r#"client.header("PayPal-Request-Id", Uuid::new_v4());"#,
        r#"client.header("Cko-Idempotency-Key", Uuid::new_v4());"#,
        r#"headers.insert("Nats-Msg-Id", Uuid::new_v4().to_string());"#,
        r#"headers.append(HeaderName::from_static("idempotency-key"), value(Uuid::new_v4()));"#,
        "client.header(IDEMPOTENCY_KEY, Uuid::new_v4());",
        "client.header(headers::IDEMPOTENCY_KEY_HEADER, Uuid::new_v4());",
        "headers.insert(async_nats::header::NATS_MESSAGE_ID, Uuid::new_v4().to_string());",
        r#"const NAME: &str = "Idempotency-Key"; client.header(NAME, Uuid::new_v4());"#,
        r#"let name = "Idempotency-Key"; client.header(name, Uuid::new_v4());"#,
        r#"response.insert_header(("Idempotency-Key", Uuid::new_v4().to_string()));"#,
        r#"client.query(&[("idempotency_key", Uuid::new_v4().to_string()), ("a", b)]);"#,
        r#"map.entry("idempotency_key").or_insert_with(|| Uuid::new_v4().to_string());"#,
        r#"map.entry("idempotency_key".to_owned()).or_insert(Uuid::new_v4().to_string());"#,
        r#"client.json(&json!({ "amount": 3, "idempotency_key": Uuid::new_v4() }));"#,
        r#"client.json(&json!({ "payment": { "idempotencyKey": Uuid::new_v4().to_string() } }));"#,
        r#"let mut body = json!({}); body["idempotency_key"] = json!(Uuid::new_v4());"#,
        r#"let map = hashmap! { "idempotency_key" => Uuid::new_v4().to_string(), "a" => b };"#,
        "api.refund(RefundRequest { idempotency_key: Uuid::new_v4().to_string(), ..request });",
        "api.refund(RefundRequest { idempotency_key: Some(Uuid::new_v4()) });",
        "request.idempotency_key = Some(Uuid::new_v4().to_string());",
        "request.meta.client_token = Uuid::new_v4();",
        "builder.client_token(Uuid::new_v4()).send().await?;",
        "builder.set_client_request_token(Some(Uuid::new_v4().to_string()));",
        "api.charge(IdempotencyKey::new(Uuid::new_v4()));",
        "api.charge(IdempotencyKey(Uuid::new_v4().to_string()));",
        "client.with_strategy(RequestStrategy::Idempotent(Uuid::new_v4().to_string()));",
        "let idempotency_key = Uuid::new_v4(); gateway.charge(&message, idempotency_key).await?;",
        "let event = EventBuilderV10::new().id(Uuid::new_v4().to_string()).ty(\"paid\").build()?;",
        "publish.message_id(Uuid::new_v4().to_string());",
        "BasicProperties::default().with_message_id(Uuid::new_v4().to_string().into());",
        "client.start_workflow(StartOptions { workflow_id: format!(\"ship-{}\", Uuid::new_v4()) }).await?;",
        "JobBuilder::new_with_id(Uuid::new_v4(), \"ship\").spawn(&pool).await?;",
        "message_out.set_message_id(Uuid::new_v4().to_string())?;",
    ]);
}

#[test]
fn whatever_is_made_anew_is_known() {
    for source in [
        "Uuid::new_v4()",
        "uuid::Uuid::now_v7()",
        "Uuid::new_v7(Timestamp::from_unix(NoContext, 1, 2))",
        "Ulid::new()",
        "Ulid::generate()",
        "Ulid::from_datetime(message.at)",
        "nanoid!()",
        "nanoid!(10)",
        "cuid2::create_id()",
        "Ksuid::generate().to_base62()",
        "xid::new().to_string()",
        "scru128::new_string()",
        "ObjectId::new().to_hex()",
        "bson::oid::ObjectId::default()",
        "rand::random::<u64>()",
        "rand::rng().random::<u64>()",
        "rand::thread_rng().gen::<u64>()",
        "rng.random::<u64>()",
        "self.rng.random::<u64>()",
        "Alphanumeric.sample_string(&mut rand::rng(), 16)",
        "fastrand::u64(..)",
        "getrandom::u64()?",
        "Utc::now().timestamp_millis()",
        "Utc::now().timestamp() / 300",
        "Utc::now().date_naive()",
        "Utc::now().format(\"%Y%m%d\").to_string()",
        "SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos()",
        "UNIX_EPOCH.elapsed()?.as_millis()",
        "message.created_at.elapsed().as_secs()",
        "OffsetDateTime::now_utc().unix_timestamp()",
        "Timestamp::now().as_millisecond()",
        "self.clock.now()",
        "std::process::id()",
        "thread::current().id()",
        "hostname::get()?.to_string_lossy()",
        "std::env::var(\"HOSTNAME\")?",
        "env!(\"CARGO_PKG_VERSION\")",
        "COUNTER.fetch_add(1, Ordering::Relaxed)",
        "Arc::as_ptr(&message) as usize",
        "RandomState::new().hash_one(&message.id)",
        "attempt.tries()",
        "attempt.fence()",
        "delivery.delivery_tag",
        "message.receipt_handle()",
        "context.lock_token()",
        "DateTime::<Utc>::from(SystemTime::now()).to_rfc3339()",
        "ulid_generator.generate()?",
        "message.key.unwrap_or_default()",
        "Uuid::nil()",
        "Ksuid::from_seconds(Some(message.at), None).to_string()",
        "format!(\"{:p}\", &message)",
        "StdRng::seed_from_u64(message.seed).next_u32()",
        "clock.raw()",
        "context.xray_trace_id",
    ] {
        refused(&[&format!("api.idempotency_key({source});")]);
        refused(&[&format!("let value = {source}; api.idempotency_key(value);")]);
    }
}

#[test]
fn a_value_is_followed_to_where_it_goes() {
    refused(&[
        "let id = Uuid::new_v4(); let text = id.to_string(); api.idempotency_key(&text);",
        "let id = Uuid::new_v4(); api.idempotency_key(format!(\"{id}\"));",
        "let id = Uuid::new_v4(); api.idempotency_key(format!(\"{}-{id:?}\", message.id));",
        "api.idempotency_key(format!(\"{}-{}\", message.id, Uuid::new_v4()));",
        "api.idempotency_key(format!(\"{}-{n}\", message.id, n = rand::random::<u8>()));",
        "api.idempotency_key(message.id.clone() + &Uuid::new_v4().to_string());",
        "api.idempotency_key([message.id, Uuid::new_v4().to_string()].join(\"-\"));",
        "api.idempotency_key(message.key.unwrap_or_else(Uuid::new_v4));",
        "api.idempotency_key(message.key.unwrap_or_else(|| Uuid::new_v4().to_string()));",
        "api.idempotency_key(message.key.clone().unwrap_or(Uuid::new_v4().to_string()));",
        "api.idempotency_key(message.key.map_or_else(Uuid::new_v4, |key| key.parse()?));",
        "api.idempotency_key(message.key.or_else(|| Some(Uuid::new_v4())));",
        "api.idempotency_key(Some(Uuid::new_v4()).map(|id| id.to_string()));",
        "api.idempotency_key(message.key.map(|_| Uuid::new_v4()));",
        "let key = match message.key { Some(key) => key, None => Uuid::new_v4() }; api.idempotency_key(key);",
        "let key = if let Some(key) = message.key { key } else { Uuid::new_v4() }; api.idempotency_key(key);",
        "let key; if message.first { key = message.id } else { key = Uuid::new_v4() } api.idempotency_key(key);",
        "let mut key = message.id; if message.retried { key = Uuid::new_v4(); } api.idempotency_key(key);",
        "let mut key = message.id; key.push_str(&Uuid::new_v4().to_string()); api.idempotency_key(key);",
        "let mut key = message.id; key += &now().to_string(); api.idempotency_key(key);",
        "let mut key = String::new(); write!(key, \"{}\", Uuid::new_v4())?; api.idempotency_key(key);",
        "let make = || Uuid::new_v4(); api.idempotency_key(make());",
        "let make = Uuid::new_v4; api.idempotency_key(make());",
        "fn fresh() -> String { Uuid::new_v4().to_string() } api.idempotency_key(fresh());",
        "let (id, key) = (message.id, Uuid::new_v4()); api.idempotency_key(key);",
        "let request = Request { id: message.id, key: Uuid::new_v4() }; api.idempotency_key(request.key);",
        "let Request { key, .. } = Request { id: 3, key: Uuid::new_v4() }; api.idempotency_key(key);",
        "let mut request = Request::new(); request.key = Uuid::new_v4(); api.idempotency_key(request.key);",
        "let mut bytes = [0; 16]; rand::fill(&mut bytes); api.idempotency_key(hex::encode(bytes));",
        "let mut bytes = [0; 16]; getrandom::fill(&mut bytes)?; api.idempotency_key(hex::encode(bytes));",
        "let mut rng = rand::rng(); let mut b = [0; 8]; rng.fill_bytes(&mut b); api.idempotency_key(b);",
        "let mut rng = StdRng::from_os_rng(); api.idempotency_key(rng.next_u64());",
        "let mut hasher = DefaultHasher::new(); message.id.hash(&mut hasher); api.idempotency_key(hasher.finish());",
        "let mut sha = Sha256::new(); sha.update(message.id); sha.update(Utc::now().to_string()); api.idempotency_key(hex::encode(sha.finalize()));",
        "api.idempotency_key(hex::encode(Sha256::digest(format!(\"{}{}\", message.id, Utc::now()))));",
        "let now = Utc::now(); let minute = now.minute(); api.idempotency_key(format!(\"{}:{minute}\", message.id));",
        "let key = loop { break Uuid::new_v4() }; api.idempotency_key(key);",
        "let mut key = message.id; for _ in 0..3 { api.idempotency_key(key); key = Uuid::new_v4(); }",
        "for attempt in 0..3 { api.idempotency_key(format!(\"{}-{attempt}\", message.id)); }",
        "for _ in 0..3 { if api.header(\"Idempotency-Key\", Uuid::new_v4()).send().await.is_ok() { break; } }",
        "let key = { let id = Uuid::new_v4(); id.to_string() }; api.idempotency_key(key);",
        "let key = async { Uuid::new_v4() }.await; api.idempotency_key(key);",
        "api.idempotency_key(Uuid::new_v5(&NAMESPACE, Utc::now().to_string().as_bytes()));",
        "api.idempotency_key(key_of(&message.id, Utc::now()));",
        "let Some(key) = Some(Uuid::new_v4()) else { return Ok(()) }; api.idempotency_key(key);",
        "let key = match message.kind { Kind::A => Uuid::new_v4(), Kind::B => return Ok(()) }; api.idempotency_key(key);",
        "let spawned = tokio::spawn(async move { api.idempotency_key(Uuid::new_v4()).send().await });",
        "let send = |key: Uuid| api.idempotency_key(key); let again = || api.idempotency_key(Uuid::new_v4());",
        "message.lines.iter().for_each(|line| api.idempotency_key(Uuid::new_v4()));",
        "tokio::join!(api.idempotency_key(Uuid::new_v4()).send(), other());",
        "tokio::select! { sent = api.idempotency_key(Uuid::new_v4()).send() => sent?, () = stop => return Ok(()) }",
        "let body = serde_json::to_string(&Payload { id: message.id, at: Utc::now() })?; api.idempotency_key(sha256(&body));",
        "let key = message.key.as_deref().map(str::to_owned).unwrap_or_else(|| nanoid!()); api.idempotency_key(key);",
        "let key = OrderKey(Uuid::new_v4()); api.idempotency_key(key.0);",
        "let key = Arc::new(Uuid::new_v4()); let copy = Arc::clone(&key); api.idempotency_key(copy.to_string());",
        "let bucket = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 60 % 24; api.idempotency_key(bucket as u32);",
        "Box::pin(async move { api.idempotency_key(Uuid::new_v4()); Ok(()) })",
        "let ids: Vec<_> = (0..3).map(|_| Uuid::new_v4()).collect(); api.idempotency_key(ids[0].to_string());",
    ]);
}

#[test]
fn what_does_not_go_there_is_left_alone() {
    silent(&[
        "api.header(\"X-Request-Id\", Uuid::new_v4().to_string()).header(\"Idempotency-Key\", &message.id);",
        "tracing::info!(event_id = %Uuid::new_v4(), \"charging\");",
        "let started = Instant::now(); api.idempotency_key(&message.id); metric(started.elapsed());",
        "let row = Row { id: Uuid::new_v4(), at: Utc::now() }; db.insert(row).await?; api.idempotency_key(message.id);",
        "let id = Uuid::new_v4(); let id = message.id; api.idempotency_key(id);",
        "{ let key = Uuid::new_v4(); log(key); } api.idempotency_key(key);",
        "let key = message.id; { let key = Uuid::new_v4(); log(key); } api.idempotency_key(key);",
        "let mut key = Uuid::new_v4().to_string(); key = message.id; api.idempotency_key(key);",
        "let now = |message: &Message| message.at; api.idempotency_key(now(&message));",
        "let request = Request { id: message.id, at: Utc::now() }; api.idempotency_key(request.id);",
        "let request = Request::new(message.id, Utc::now()); api.idempotency_key(request.id);",
        "let request = Request::new(message.id, Utc::now()); api.idempotency_key(request.id());",
        "let order = db.find(message.id, Utc::now()).await?; api.idempotency_key(order.id);",
        "let order = find(&db, message.id, Utc::now()).await?; api.idempotency_key(order.id);",
        "let order = find_open(Utc::now()).await?; api.idempotency_key(order);",
        "api.idempotency_key(Uuid::new_v5(&NAMESPACE, message.id.as_bytes()));",
        "api.idempotency_key(message.key.ok_or(Error::NoKey)?);",
        "api.idempotency_key(ulid.random());",
        "let socket = TcpSocket::new_v4()?; api.idempotency_key(message.id);",
        "api.idempotency_key(hex::encode(Sha256::digest(&message.id)));",
        "let mut sha = Sha256::default(); sha.update(&message.id); api.idempotency_key(hex::encode(sha.finalize()));",
        "let key = format!(\"{}:{}\", message.id, message.version.unwrap_or_default()); api.idempotency_key(key);",
        "api.idempotency_key(std::env::var(\"SHOP\")?);",
        "api.idempotency_key(format!(\"{}:{}\", env!(\"CARGO_PKG_NAME\"), message.id));",
        "for (at, line) in message.lines.iter().enumerate() { api.idempotency_key(format!(\"{}:{at}\", message.id)); }",
        "if Utc::now() > message.deadline { return Ok(()); } api.idempotency_key(message.id);",
        "let late = Utc::now() > message.deadline; api.idempotency_key(format!(\"{}:{late}\", message.id));",
        "let key = match message.key { Some(key) => key, None => return Err(Error::at(Utc::now())) }; api.idempotency_key(key);",
        "let correlation_id = Uuid::new_v4(); api.correlation_id(correlation_id).idempotency_key(message.id);",
        "let body = json!({ \"idempotency_key\": message.id, \"requested_at\": Utc::now() }); api.json(&body);",
        "let body = json!({ \"trace\": Uuid::new_v4() }); api.json(&body).idempotency_key(message.id);",
        "let audit = AuditEntry { event_id: Uuid::new_v4(), order: message.id };",
        "let mut request = ChargeRequest::default(); request.order = message.id; request.idempotency_key = message.id; send(request);",
        "let message_id = Uuid::new_v4(); log(message_id);",
        "queue.delete_message().receipt_handle(message.receipt_handle).send().await?; api.idempotency_key(message.id);",
        "if attempt.tries() > 1 { warn!(\"again\"); } api.idempotency_key(message.id);",
        "let backoff = rand::random_range(0..100); sleep(backoff).await; api.idempotency_key(message.id);",
        "let mut rng = rand::rng(); let jitter = rng.random_range(0..9); sleep(jitter); api.idempotency_key(message.id);",
        "let key = Uuid::new_v4; api.idempotency_key(message.id Uuid::new_v4());",
        "span.record(\"event_id\", Uuid::new_v4().to_string()); api.idempotency_key(message.id);",
        "let id = Uuid::parse_str(&message.id)?; api.idempotency_key(id);",
        "let mut items = Vec::new(); items.push(Line { id: Uuid::new_v4(), sku: message.sku }); api.idempotency_key(items[0].sku);",
        "let length = Uuid::new_v4().to_string().len(); api.idempotency_key(format!(\"{}:{length}\", message.id));",
        "let workflow_id = Uuid::new_v4(); log(workflow_id);",
        "api.idempotency_key(Ksuid::from_seconds(Some(message.at), Some(&message.payload)));",
        "api.idempotency_key(nanoid!(10, &ALPHABET, seeded));",
        "let events: Vec<Event> = message.lines.iter().map(|line| Event { event_id: line.id, at: Utc::now() }).collect();",
        "let key = store.key_for(&message, Utc::now()).await?; api.idempotency_key(key);",
        "let attempt = 3; api.idempotency_key(format!(\"{}-{attempt}\", message.id));",
        "assert!(message.idempotency_key.is_some(), \"{}\", Uuid::new_v4());",
        "let seen = message.message_id(); log(seen, Utc::now());",
        "let rows = sqlx::query(\"insert\").bind(Uuid::new_v4()).bind(&message.message_id).execute(&db).await?;",
    ]);
}

#[test]
fn a_key_that_is_written_out_is_no_key() {
    refused(&[
        r#"api.header("Idempotency-Key", "charge");"#,
        "api.idempotency_key(\"charge\");",
        "let key = \"charge\"; api.idempotency_key(key.to_owned());",
        "api.refund(Refund { idempotency_key: \"refund\".into(), ..refund });",
        "let event = EventBuilderV10::new().id(\"my-app\").build()?;",
    ]);
    silent(&[
        r#"let idempotency_key = "Idempotency-Key"; api.header(idempotency_key, message.id);"#,
        r#"const IDEMPOTENCY_KEY: &str = "Idempotency-Key"; api.header(IDEMPOTENCY_KEY, message.id);"#,
        "let mut request = Request { idempotency_key: \"\".to_owned(), n: 3 }; request.idempotency_key = message.id;",
        "api.header(\"Content-Type\", \"application/json\").idempotency_key(message.id);",
        "let key = key.step(\"capture\"); api.idempotency_key(key.as_str());",
        "api.idempotency_key(format!(\"capture:{}\", message.id));",
        "api.header(\"Idempotency-Key\", [\"capture\", &message.id].join(\":\"));",
        "let attribute = message.attributes.get(\"idempotency_key\").map_or(\"none\", String::as_str);",
        "return Err(Error::wrong_field(\"idempotency_key\", \"is missing\"));",
        "validate.check(\"message_id\", \"is missing\")?;",
        "match name { \"idempotency_key\" => \"a\", \"event_id\" => \"b\", _ => \"c\" };",
    ]);
}

#[test]
fn a_request_without_its_token_is_found_where_it_is_sent() {
    refused(&[
        "dynamo.transact_write_items().transact_items(item).send().await?;",
        "let request = dynamo.execute_transaction(); let request = request.transact_statements(s); request.send().await?;",
        "let mut request = dynamo.transact_write_items(); for item in items { request = request.transact_items(item); } request.send().await?;",
        "dynamo.import_table().input_format(f).send().await?;",
        "svix.message().create(app, message, None).await?;",
    ]);
    silent(&[
        "dynamo.transact_write_items().client_request_token(key.as_str()).send().await?;",
        "dynamo.transact_write_items().set_client_request_token(Some(token)).transact_items(i).send().await?;",
        "let mut request = dynamo.transact_write_items(); request = request.client_request_token(token); request.send().await?;",
        "dynamo.put_item().send().await?;",
        "let request = dynamo.transact_write_items(); helper(request).await?;",
        "svix.message().create(app, message, Some(options)).await?;",
    ]);
}

#[test]
fn one_value_in_many_places_is_one_mistake() {
    refused(&[
        "let idempotency_key = Uuid::new_v4(); api.header(\"Idempotency-Key\", idempotency_key).json(&json!({ \"idempotency_key\": idempotency_key }));",
        "let key = Uuid::new_v4(); a.idempotency_key(key); b.idempotency_key(key);",
    ]);
    assert_eq!(found("a.idempotency_key(Uuid::new_v4()); b.idempotency_key(Uuid::new_v4());").len(), 2);
}

#[test]
fn a_handle_of_a_delivery_is_known_by_its_name() {
    refused(&[
        "api.idempotency_key(delivery.delivery_tag);",
        "api.idempotency_key(publish.pkid);",
        "api.idempotency_key(format!(\"{}-{}\", message.id, message.x_delivery_count()));",
        "api.idempotency_key(record.deliveryTag);",
        "let death = message.headers.x_death; api.idempotency_key(death.to_string());",
    ]);
    silent(&[
        "api.idempotency_key(contract.lease_id);",
        "api.idempotency_key(&parcel.packet_id);",
        "api.idempotency_key(bike.lock_id());",
        "api.idempotency_key(signed.hmac);",
        "api.idempotency_key(policy.backoff);",
        "api.idempotency_key(page.b3);",
    ]);
}

#[test]
fn what_is_put_together_in_any_order_is_another_one_in_each_process() {
    assert_eq!(
        found(
            "let labels: HashMap<String, String> = message.labels; let mut hash = Sha256::new();
            for (name, value) in &labels { hash.update(name); hash.update(value); }
            api.idempotency_key(hex::encode(hash.finalize()));"
        ),
        ["fresh_key: `labels` in `idempotency_key` gives its entries in another order in each process"]
    );
    refused(&[
        "let mut text = String::new(); let labels: HashSet<_> = message.labels.into_iter().collect(); for label in labels.iter() { text.push_str(label); } api.idempotency_key(text);",
        "let labels = message.labels.iter().collect::<HashMap<_, _>>(); api.idempotency_key(serde_json::to_string(&labels)?);",
        "let labels = HashSet::from([\"a\", \"b\"]); api.idempotency_key(format!(\"{labels:?}\"));",
        "let labels: HashSet<String> = read(); let key = labels.iter().map(String::as_str).collect::<Vec<_>>().join(\",\"); api.idempotency_key(key);",
        "let labels: HashSet<String> = read(); let key: String = labels.into_iter().collect(); api.idempotency_key(key);",
        "let labels: HashSet<String> = read(); let mut hasher = Fnv::new(); for label in &labels { label.hash(&mut hasher); } api.idempotency_key(hasher.finish());",
        "let labels: HashSet<String> = read(); let mut hasher = Sha256::new(); labels.iter().for_each(|label| hasher.update(label)); api.idempotency_key(hex(hasher.finalize()));",
        "let labels: HashMap<String, u32> = read(); let mut text = String::new(); for (k, v) in labels { write!(text, \"{k}={v};\")?; } api.idempotency_key(sha256(text));",
        "let mut seen = HashMap::new(); for line in &message.lines { seen.insert(line.sku, line.count); } let mut ids = Vec::new(); for id in seen.keys() { ids.push(id); } api.idempotency_key(ids.join(\"-\"));",
    ]);
    silent(&[
        "let labels: HashMap<String, String> = message.labels; api.idempotency_key(&labels[\"event-id\"]);",
        "let labels: HashMap<String, String> = message.labels; api.idempotency_key(labels.get(\"event-id\").cloned().unwrap_or(message.id));",
        "let labels: HashMap<String, String> = message.labels; let sorted: BTreeMap<_, _> = labels.into_iter().collect(); api.idempotency_key(serde_json::to_string(&sorted)?);",
        "let labels: HashSet<String> = read(); let mut labels: Vec<_> = labels.into_iter().collect(); labels.sort(); api.idempotency_key(labels.join(\",\"));",
        "let labels: HashSet<String> = read(); let labels = labels.iter().collect::<BTreeSet<_>>(); for label in labels { text.push_str(label); } api.idempotency_key(text);",
        "let labels: HashSet<String> = read(); api.idempotency_key(labels.iter().sorted().join(\",\"));",
        "let mut ids = Vec::new(); let seen: HashSet<u64> = read(); for id in seen { ids.push(id); } ids.sort_unstable(); api.idempotency_key(format!(\"{ids:?}\"));",
        "let orders: HashMap<u64, Order> = read(); for (id, order) in &orders { api.idempotency_key(format!(\"order:{id}\")).send().await?; }",
        "let orders: HashMap<u64, Order> = read(); for order in orders.values() { let mut hash = Sha256::new(); hash.update(&order.id); api.idempotency_key(hex(hash.finalize())); }",
        "let orders: HashMap<u64, Order> = read(); let mut total = 0; for order in orders.values() { total += order.amount; } api.idempotency_key(format!(\"{}:{total}\", message.id));",
        "let orders: HashMap<u64, Order> = read(); let count = orders.len(); api.idempotency_key(format!(\"{}:{count}\", message.id));",
        "let orders: HashMap<u64, Order> = read(); let total: u64 = orders.values().map(|order| order.amount).sum(); api.idempotency_key(format!(\"{}:{total}\", message.id));",
        "let mut headers = HashMap::new(); headers.insert(\"Idempotency-Key\", message.id); client.post(url).headers(headers).send().await?;",
        "let mut body = HashMap::new(); body.insert(\"idempotency_key\", message.id); client.post(url).json(&serde_json::to_string(&body)?).send().await?;",
        "let labels: HashMap<String, String> = message.labels; let body = serde_json::to_string(&labels)?; client.post(url).body(body).header(\"Idempotency-Key\", &message.id).send().await?;",
        "let labels: Vec<HashMap<String, String>> = message.labels; for label in labels { text.push_str(&label[\"id\"]); } api.idempotency_key(text);",
        "let labels: IndexMap<String, String> = message.labels; let mut text = String::new(); for label in labels { text.push_str(&label.0); } api.idempotency_key(text);",
    ]);
}

#[test]
fn a_key_outside_of_attributes_is_made_of_what_stands_in_its_places() {
    assert_eq!(
        found("let id = Uuid::new_v4(); let key = key!(\"order:<id>\")?;"),
        ["fresh_key: `Uuid::new_v4()` in `key!` gives a new id on every attempt"]
    );
    refused(&[
        "let id = Uuid::new_v4(); let key = idem::key!(\"order:<message.id>:<id>\")?; api.idempotency_key(key.as_str());",
        "let id = Uuid::new_v4().to_string(); let key = key!([\"evt:<message.event_id>\", \"order:<id>\"])?;",
        "let at = Utc::now().timestamp(); let key = ::idem::key!(\"order:<message.id>-<at>\", trust(other.number(), reason = \"r\"))?;",
        "let job = Job { id: Ulid::new(), order: message.id }; let key = key!(\"job:<job.id>\")?;",
        "let ids = (message.id, Uuid::new_v4()); let key = key!(\"job:<ids.0>:<ids.1>\")?;",
        "let id = Uuid::new_v4(); let id = &id; send(key!(\"order:<id.as_u128()>\", id: &Uuid)?).await?;",
        "let id = message.id.unwrap_or_default(); let key = key!(\"order:<id>\")?;",
        "let save = || { let id = Uuid::new_v4(); key!(\"order:<id>\") }; save()?;",
        "for attempt in 0..3 { let key = key!(\"order:<message.id>:<attempt>\")?; }",
        "let key = key!(\"order:<attempt.fence()>\", attempt: &Attempt)?;",
    ]);
    silent(&[
        "let id = Uuid::new_v4(); log(id); let key = key!(\"order:<message.id>\")?;",
        "let id = Uuid::new_v4(); let id = message.id; let key = key!(\"order:<id>\")?;",
        "let job = Job { trace: Ulid::new(), order: message.id }; let key = key!(\"job:<job.order>\")?;",
        "let row = db.insert(Uuid::new_v4()).await?; let key = key!(\"row:<row.id>\")?;",
        "let id = Uuid::new_v4(); let key = key!(\"order:<id.number()>\", trust(id.number(), reason = \"looked at\"))?;",
        "for line in 0..3 { let key = key!(\"line:<message.id>:<line>\")?; }",
        "let id = Uuid::new_v4(); let key = key!(\"order:<message.id>:<<id>>\")?;",
        "let id = Uuid::new_v4(); let key = winit::key!(\"order:<id>\");",
        "let id = Uuid::new_v4(); let key = key!(id);",
        "let id = Uuid::new_v4(); let key = key!(\"order:<id\");",
        "let kind = \"refund\"; let key = key!(\"order:<message.id>:<kind>\")?;",
    ]);
}

#[test]
fn what_is_deeper_than_people_write_is_passed_over() {
    let chain = format!("api{}.idempotency_key(Uuid::new_v4());", ".next()".repeat(2000));
    let sum = format!("api.idempotency_key({}Uuid::new_v4());", "1 + ".repeat(2000));
    let nested = format!("api.idempotency_key({}Uuid::new_v4(){});", "(".repeat(400), ")".repeat(400));
    let blocks = format!("{}api.idempotency_key(Uuid::new_v4());{}", "{".repeat(400), "}".repeat(400));
    for body in [chain, sum, nested, blocks] {
        let _ = found(&body);
    }
    refused(&[&format!("api.idempotency_key({}Uuid::new_v4(){});", "(".repeat(80), ")".repeat(80))]);
    refused(&[&format!("api{}.idempotency_key(Uuid::new_v4());", ".header(a, b)".repeat(100))]);
    let loops = format!("{}api.idempotency_key(Uuid::new_v4());{}", "loop {".repeat(20), "}".repeat(20));
    refused(&[&loops]);
}

#[test]
fn shapes_that_consumers_have() {
    refused(&[
        "let dedup_id = key.unwrap_or_else(|| format!(\"{}-{}\", count, SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos())); entry = entry.message_deduplication_id(dedup_id);",
        "Ok((preview, PublishRequest { idempotency_key: Uuid::new_v4().to_string(), target: queue.clone() }))",
        "control::enqueue(State(app), Path(id), Json(RpcRequest { method: m, idempotency_key: Uuid::new_v4().to_string() })).await?;",
        "headers.insert(\"Idempotency-Key\", HeaderValue::from_str(&Uuid::new_v4().to_string())?);",
        "request.metadata_mut().insert(\"idempotency-key\", Uuid::new_v4().to_string().parse()?);",
        "backoff::future::retry(policy, || async { client.post(url).header(\"Idempotency-Key\", Uuid::new_v4().to_string()).send().await }).await?;",
        "let key = Uuid::new_v4().to_string(); client.post(url).headers({ let mut h = HeaderMap::new(); h.insert(\"Idempotency-Key\", key.parse()?); h }).send().await?;",
        "let request = ChargeRequest::builder().idempotency_key(Uuid::new_v4()).amount(3).build()?;",
        "let headers = HashMap::from([(\"Idempotency-Key\", Uuid::new_v4().to_string())]);",
        "let form = vec![(\"idempotency_key\".to_string(), id.to_string()), (\"idempotency_key\".to_string(), Ulid::new().to_string())];",
        "body.insert(\"idempotency_key\".into(), Value::String(Uuid::new_v4().to_string()));",
        "let key: String = iter::repeat_with(fastrand::alphanumeric).take(16).collect(); api.idempotency_key(key);",
        "let key: String = (0..16).map(|_| rng.sample(Alphanumeric) as char).collect(); api.idempotency_key(key);",
        "let key = thread_rng().sample_iter(&Alphanumeric).take(16).map(char::from).collect::<String>(); api.idempotency_key(key);",
        "api.idempotency_key(hex::encode(rand::random::<[u8; 16]>()));",
        "let ts = Utc::now(); api.idempotency_key(sha256(&[message.id.as_bytes(), &ts.timestamp().to_be_bytes()].concat()));",
        "let key = message.headers.get(\"idempotency-key\").cloned().unwrap_or_else(|| Uuid::new_v4().to_string()); api.idempotency_key(key);",
        "let mut key = message.key; let key = key.get_or_insert_with(|| Uuid::new_v4().to_string()); api.idempotency_key(key);",
        "if message.key.is_none() { message.key = Some(Uuid::new_v4()); } api.idempotency_key(message.key.unwrap());",
        "let key = message.key.as_ref().filter(|key| !key.is_empty()).cloned().unwrap_or_else(|| Ulid::new().to_string()); api.idempotency_key(key);",
        "let key = message.key.ok_or_else(missing).or_else(|_| Ok::<_, Error>(Uuid::new_v4()))?; api.idempotency_key(key);",
        "let ctx = Context { at: Utc::now(), message }; api.idempotency_key(format!(\"{}\", ctx.at.timestamp()));",
        "let stamp = format!(\"{:?}\", Instant::now()); let key = blake3::hash(stamp.as_bytes()).to_hex(); api.idempotency_key(key.as_str());",
        "let n = { let mut n = COUNT.lock().unwrap(); *n += 1; SEQ.fetch_add(1, SeqCst) }; api.idempotency_key(format!(\"{}-{n}\", message.id));",
        "while let Some(line) = lines.next().await { api.idempotency_key(Uuid::new_v4()).json(&line).send().await?; }",
        "match message.kind { Kind::Charge if message.amount > 0 => { api.idempotency_key(Uuid::new_v4()).send().await?; } _ => {} }",
        "let results = join_all(message.lines.iter().map(|line| api.charge(line).idempotency_key(Uuid::new_v4()).send())).await;",
        "let options = RequestOptions { idempotency_key: Some(format!(\"{}_{}\", message.id, Utc::now().timestamp())), ..Default::default() };",
    ]);
    silent(&[
        "for (i, event) in events.iter().enumerate() { buffer.truncate(n); let _ = write!(buffer, \":{i}\"); headers.insert(\"Nats-Msg-Id\", buffer.as_str()); }",
        "if let Some(id) = &message.client_request_id { let value = HeaderValue::from_str(id).map_err(|_| Error::new(Utc::now()))?; builder = builder.header(\"Idempotency-Key\", value); }",
        "let Message { id, .. } = &message; let sent_at = Utc::now(); api.idempotency_key(id.clone()).sent_at(sent_at);",
        "headers.insert(\"Nats-Msg-Id\", row.id.to_string()); headers.insert(\"Sent-At\", Utc::now().to_rfc3339());",
        "let dedup_id = format!(\"{}_{}\", event.file_id, event.timestamp); request = request.message_deduplication_id(&dedup_id);",
        "let envelope = Envelope { id: message.id, received_at: Utc::now() }; client.send_message().message_body(to_string(&envelope)?).message_deduplication_id(&envelope.id).send().await?;",
        "let checksum = message.compute_checksum(); headers.insert(\"Nats-Msg-Id\", checksum.as_str()); debug!(?checksum, at = ?Utc::now());",
        "let mut tx = db.begin().await?; insert(&mut tx, Uuid::new_v4(), Utc::now()).await?; api.idempotency_key(message.id).send().await?; tx.commit().await?;",
        "let expires = Utc::now() + Duration::days(7); api.idempotency_key(&message.id).expires_at(expires).send().await?;",
        "let token = auth.token(Utc::now()).await?; client.post(url).bearer_auth(token).header(\"Idempotency-Key\", &message.id).send().await?;",
        "let signature = sign(&secret, Utc::now().timestamp(), &body); client.header(\"X-Signature\", signature).header(\"Idempotency-Key\", &message.id);",
        "let user = User::new(Uuid::new_v4(), &message.email); db.save(&user).await?; mailer.idempotency_key(format!(\"welcome:{}\", message.id)).to(&user.email).send().await?;",
        "let (tx, rx) = mpsc::channel(8); let started = Instant::now(); api.idempotency_key(&message.id); tx.send(started.elapsed()).await?;",
        "let request_id = Uuid::new_v4(); let span = info_span!(\"charge\", %request_id); async { api.idempotency_key(&message.id).send().await }.instrument(span).await?;",
        "let key = match cache.get(&message.id) { Some(entry) if entry.expires > Instant::now() => entry.key.clone(), _ => derive(&message.id) }; api.idempotency_key(key);",
        "let id = Uuid::from_bytes(message.raw); api.idempotency_key(id.simple().to_string());",
        "let date = message.date.format(\"%Y-%m-%d\").to_string(); api.idempotency_key(format!(\"{}:{date}\", message.account));",
    ]);
}
