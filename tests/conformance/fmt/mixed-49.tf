module "a" {
  source   = "./child"
  for_each = { k = 1 }
}
output "o" {
  value = module.a["k"].nope
}
output "p" {
  value = module.a.k.nope
}

locals {
  a = (
   	var.x &&
    var.y
      || var.z
  )
  b = (var.x
    ? "yes"
: "no")
  c = var.a ? {
    x = 1
  } : {
    y = 2
  }
  d = (
1
+
2
)
}
  