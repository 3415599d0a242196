# The object has a name of its own here.
#: provider: google
#: target: google_cloudfunctions2_function_iam_member.g

resource "google_cloudfunctions2_function_iam_member" "g" {
  project        = "p"
  location       = "l"
  cloud_function = "f-⟨a|b⟩"
  role           = "roles/invoker"
  member         = "allUsers"
  ORDER
}
