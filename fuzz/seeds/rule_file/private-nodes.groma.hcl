attachment "networkInterface" {
  resource = "google_container_cluster"
  types    = ["google_container_node_pool"]
  identity = ["name", "id"]
}
replace_rule "gke-private-nodes" {
  resource = "google_container_cluster"
  field    = "private_cluster_config[0].enable_private_nodes"
  order    = "delete_first"
  behavior = "warn"
  logic    = "AND"
  predicate "has_attached_resources" "nics" {
    resource_types  = ["networkInterface"]
    check_conflicts = true
    description     = "Network interfaces that cannot be shared"
  }
  predicate "field_changed" "changed" {
    field       = "private_cluster_config[0].enable_private_nodes"
    description = "Private nodes setting is changing"
  }
  reasoning = "Private node changes may conflict with attached network interfaces"
}
