# Resources that are never applied: what they compute stays unknown.

resource "terraform_data" "one" {
  input = "in"
}

resource "terraform_data" "typed" {
  input            = { a = 1, b = [x.*.y, "y"] }
  triggers_replace = [1, 2]# tail
}

resource "terraform_data" "many" {
  count = 2
  input = count.index
}

resource "terraform_data" "none" {
  count = 0
}

resource "terraform_data" "each" {
  for_each = toset(["red", "green"])
  input    = each.key
}

resource "terraform_data" "maybe" {
  count = length(terraform_data.many) > 1 ? 1 : 0
}

module "child" {
  source = "./child"
  name   = "kid"
}

module "kids" {
  source   = "./child"
  for_each = { a = "A", b = "B" }
  name     = each.value
}

module "counted" {
  source = "./child"
  count  = 2
  name   = "n${count.index}"
}

module "absent" {
  source = "./child"
  count  = 0
  name   = "never"
}

output "o" {
  value = 1
}
