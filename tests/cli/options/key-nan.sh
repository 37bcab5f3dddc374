# Where NaNs go.
entities of 1 nan -1 0 -0.0 inf >in
for nan in last first total; do
  for order in asc desc; do
    echo "$nan $order"
    recsort -s "$SCHEMAS/entity.yaml" -k "distanceFromPlayer:$order:nan=$nan" in | entities show
  done
done
