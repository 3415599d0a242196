#: provider: google
#: target: google_container_node_pool.p

resource "google_container_node_pool" "p" {
  name_prefix = "workers-"
  cluster     = "main"
  node_config {
    machine_type = "e2-⟨small|large⟩"
  }
  ORDER
}
