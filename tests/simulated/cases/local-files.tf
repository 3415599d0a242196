# hashicorp/terraform-provider-local#146
#: provider: local
#: target: local_file.f

resource "local_file" "f" {
  for_each        = { a = "a.txt", b = "b.txt" }
  filename        = each.value
  content         = "text"
  file_permission = "⟨0644|0600⟩"
  ORDER
}
