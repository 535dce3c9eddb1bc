dead=$(aws sqs create-queue --queue-name orders-dead.fifo --attributes FifoQueue=true --query QueueUrl --output text)
arn=$(aws sqs get-queue-attributes --queue-url "$dead" --attribute-names QueueArn --query Attributes.QueueArn --output text)
aws sqs create-queue --queue-name orders.fifo --attributes \
  "{\"FifoQueue\":\"true\",\"RedrivePolicy\":\"{\\\"deadLetterTargetArn\\\":\\\"$arn\\\",\\\"maxReceiveCount\\\":5}\"}"
