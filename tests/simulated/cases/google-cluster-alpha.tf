# pulumi/pulumi-gcp#95
#: provider: google
#: target: google_container_cluster.c

resource "google_container_cluster" "c" {
  name                    = "main-⟨a|b⟩"
  location                = "europe-west1"
  enable_kubernetes_alpha = ⟨false|true⟩
  subnetwork              = "main"
  ip_allocation_policy {
    cluster_secondary_range_name  = "pods"
    services_secondary_range_name = "services"
  }
  ORDER
}
