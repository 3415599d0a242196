#: provider: mongodbatlas
#: target: mongodbatlas_project_ip_access_list.e

resource "mongodbatlas_project_ip_access_list" "e" {
  project_id = "p"
  ip_address = "192.0.2.⟨1|2⟩"
  ORDER
}
