moved {
  from = "terraform_data.a"
  to   = terraform_data.b
}
moved {
  from = terraform_data
  to   = terraform_data.b
}
moved {
  from = terraform_data.a.id
  to   = terraform_data.b
}
moved {
  from = var.a
  to   = var. b
}
moved {
  from/**/ = 5
  to   = upper(<<E
x
E
)
}
