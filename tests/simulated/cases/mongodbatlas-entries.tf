# pulumi/pulumi-mongodbatlas#806
#: provider: mongodbatlas
#: target: mongodbatlas_project_ip_access_list.e

resource "mongodbatlas_project_ip_access_list" "e" {
  for_each   = toset(["192.0.2.1", "192.0.2.2"])
  project_id = "p"
  ip_address = each.key
  comment    = "⟨old|new⟩"
  ORDER
}
