#: provider: kubernetes
#: target: kubernetes_job_v1.j

resource "kubernetes_job_v1" "j" {
  metadata {
    generate_name = "migrate-"
    namespace     = "prod"
  }
  image = "migrate:⟨1|2⟩"
  ORDER
}
