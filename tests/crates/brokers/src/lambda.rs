//! `aws_lambda_events`: SQS, SNS, Kafka, Kinesis, DynamoDB streams, `EventBridge`, and `RabbitMQ` through Lambda.

use aws_lambda_events::dynamodb::EventRecord;
use aws_lambda_events::eventbridge::EventBridgeEvent;
use aws_lambda_events::kafka::KafkaRecord;
use aws_lambda_events::kinesis::KinesisEventRecord;
use aws_lambda_events::rabbitmq::RabbitMqMessage;
use aws_lambda_events::sns::SnsMessage;
use aws_lambda_events::sqs::{SqsMessage, SqsMessageObj};
use idem::{Key, idempotent};

use crate::Keyed;

#[idempotent(store = none, key = "sqs:<message.message_id>")]
pub async fn sqs(message: &SqsMessage, #[key] key: &Key) -> Keyed {
    println!(
        "{:?}, received {:?}",
        message.receipt_handle,
        message.attributes.get("ApproximateReceiveCount")
    );
    Ok(key.to_string())
}

/// The publisher's own id survives a redrive.
#[idempotent(store = none, key = "evt:<message.message_attributes[\"event-id\"].string_value>")]
pub async fn sqs_with_an_id_of_the_publisher(message: &SqsMessage, #[key] key: &Key) -> Keyed {
    println!("{:?}", message.md5_of_body);
    Ok(key.to_string())
}

#[idempotent(store = none, key = "fifo:<message.attributes[\"MessageDeduplicationId\"]>")]
pub async fn sqs_fifo(message: SqsMessage, #[key] key: &Key) -> Keyed {
    println!("{:?}", message.body);
    Ok(key.to_string())
}

#[derive(serde::Serialize, serde::Deserialize)]
pub struct Order {
    pub id: String,
}

#[idempotent(store = none, key = ["order:<message.body.id>", "sqs:<message.message_id>"])]
pub async fn sqs_with_a_body(message: &SqsMessageObj<Order>, #[key] key: &Key) -> Keyed {
    println!("{:?}", message.event_source_arn);
    Ok(key.to_string())
}

/// The id inside of the envelope is the same in every queue.
#[idempotent(store = none, key = "sns:<message.message_id>")]
pub async fn sns(message: &SnsMessage, #[key] key: &Key) -> Keyed {
    println!("{} at {}", message.topic_arn, message.timestamp);
    Ok(key.to_string())
}

#[idempotent(store = none, key = "kafka:<record.topic>:<record.partition>:<record.offset>")]
pub async fn kafka(record: &KafkaRecord, #[key] key: &Key) -> Keyed {
    println!("{:?}: {:?}", record.key, record.value);
    Ok(key.to_string())
}

#[idempotent(store = none, key = "kinesis:<record.event_id>")]
pub async fn kinesis(record: &KinesisEventRecord, #[key] key: &Key) -> Keyed {
    println!("{:?}", record.kinesis.partition_key);
    Ok(key.to_string())
}

#[idempotent(store = none, key = "dynamo:<record.event_id>")]
pub async fn dynamodb(record: &EventRecord, #[key] key: &Key) -> Keyed {
    println!("{}", record.event_name);
    Ok(key.to_string())
}

#[idempotent(store = none, key = "bus:<event.source>:<event.id>")]
pub async fn eventbridge(event: &EventBridgeEvent<Order>, #[key] key: &Key) -> Keyed {
    println!("{} at {:?}: {}", event.detail_type, event.time, event.detail.id);
    Ok(key.to_string())
}

#[idempotent(store = none, key = "rabbit:<message.basic_properties.message_id>")]
pub async fn rabbitmq(message: &RabbitMqMessage, #[key] key: &Key) -> Keyed {
    println!("again: {}", message.redelivered);
    Ok(key.to_string())
}
