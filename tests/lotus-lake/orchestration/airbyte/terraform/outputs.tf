output "connections" {
  description = "Ids of the connections, by the shop that they come from."
  value = {
    shopify = rest_object.shopify_to_lake.id
    klaviyo = rest_object.klaviyo_to_lake.id
  }
}
