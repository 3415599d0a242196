# pulumi/pulumi-docker#1356
#: provider: docker
#: target: docker_container.c

resource "docker_container" "c" {
  name  = "web"
  image = "nginx"
  env   = ["MODE=⟨old|new⟩"]
  ORDER
}
