# pulumi/pulumi-kubernetes#21
#: provider: kubernetes
#: target: kubernetes_deployment.d

resource "kubernetes_deployment" "d" {
  metadata {
    name      = "web"
    namespace = "prod"
  }
  selector = "app=⟨old|new⟩"
  ORDER
}
