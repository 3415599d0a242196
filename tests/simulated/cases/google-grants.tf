#: provider: google
#: target: google_project_iam_member.g

resource "google_project_iam_member" "g" {
  for_each = toset(["roles/viewer", "roles/editor"])
  project  = "p"
  role     = each.key
  member   = "user:⟨a|b⟩@example.com"
  ORDER
}
