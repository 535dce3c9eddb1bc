az servicebus queue create --resource-group shop --namespace-name shop --name orders --enable-session true \
  --enable-duplicate-detection true --max-delivery-count 5 --lock-duration PT1M
