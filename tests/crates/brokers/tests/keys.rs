//! The keys of real messages: the same for a second delivery, and none for a message without an id.

use aws_lambda_events::kafka::KafkaRecord;
use aws_lambda_events::sqs::SqsMessage;
use brokers::{lambda, rabbitmq};
use cloudevents::{EventBuilder as _, EventBuilderV10};
use idem::ErrorKind;
use lapin::BasicProperties;
use lapin::message::Delivery;

fn delivery(tag: u64, properties: BasicProperties) -> Delivery {
    let mut delivery = Delivery::mock(tag, "orders".into(), "paid".into(), tag > 1, Vec::new());
    delivery.properties = properties;
    delivery
}

#[tokio::test]
async fn a_redelivery_of_rabbitmq_has_the_publishers_id() {
    let properties = BasicProperties::default().with_message_id("8f14".into());
    for tag in [1, 2] {
        let delivery = delivery(tag, properties.clone());
        assert_eq!(rabbitmq::the_publishers_id(&delivery).await.unwrap(), "rabbit:8f14");
        assert_eq!(rabbitmq::beside_the_exchange(&delivery).await.unwrap(), "rabbit:orders:8f14");
    }
    let without = delivery(1, BasicProperties::default());
    let refused = rabbitmq::the_publishers_id(&without).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::MissingKeyPart);
}

#[tokio::test]
async fn a_second_receive_from_sqs_has_the_same_id() {
    for receipt in ["AQEB1", "AQEB2"] {
        let message = format!(
            r#"{{ "messageId": "19dd0b57", "receiptHandle": "{receipt}", "attributes": {{ "MessageDeduplicationId": "d7" }},
                "messageAttributes": {{ "event-id": {{ "stringValue": "e7", "dataType": "String" }} }} }}"#
        );
        let message: SqsMessage = serde_json::from_str(&message).unwrap();
        assert_eq!(lambda::sqs(&message).await.unwrap(), "sqs:19dd0b57");
        assert_eq!(lambda::sqs_with_an_id_of_the_publisher(&message).await.unwrap(), "evt:e7");
        assert_eq!(lambda::sqs_fifo(message).await.unwrap(), "fifo:d7");
    }
    let refused = lambda::sqs(&SqsMessage::default()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::MissingKeyPart);
}

#[tokio::test]
async fn a_record_of_kafka_is_told_by_its_whole_position() {
    let mut record = KafkaRecord::default();
    record.topic = Some("orders".to_owned());
    record.partition = 3;
    record.offset = 7;
    assert_eq!(lambda::kafka(&record).await.unwrap(), "kafka:orders:3:7");
}

#[tokio::test]
async fn an_event_is_told_by_its_source_and_id() {
    let event = EventBuilderV10::new().id("e7").ty("paid").source("https://shop.example").build().unwrap();
    let key = "ce:https%3A//shop.example:e7";
    assert_eq!(brokers::cloudevents::source_and_id(&event).await.unwrap(), key);
    assert_eq!(brokers::cloudevents::answered_by_an_event(&event).await.unwrap(), format!("{key}#answer"));
}
