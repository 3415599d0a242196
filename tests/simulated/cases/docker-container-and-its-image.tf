# The image is replaced as well.
#: provider: docker
#: target: docker_container.c

resource "docker_image" "i" {
  name = "nginx:⟨1|2⟩"
}

resource "docker_container" "c" {
  name  = "web-⟨a|b⟩"
  image = docker_image.i.image_id
  ports {
    internal = 80
  }
  ORDER
}
