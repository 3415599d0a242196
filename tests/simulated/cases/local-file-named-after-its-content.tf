#: provider: local
#: target: local_file.f

resource "local_file" "f" {
  filename = "release-⟨1|2⟩.txt"
  content  = "release ⟨1|2⟩"
  ORDER
}
