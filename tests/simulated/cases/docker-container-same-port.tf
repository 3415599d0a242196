#: provider: docker
#: target: docker_container.c

resource "docker_container" "c" {
  name  = "web-⟨a|b⟩"
  image = "nginx:⟨1|2⟩"
  ports {
    internal = 80
    external = 8080
    ip       = "0.0.0.0"
    protocol = "tcp"
  }
  ORDER
}
