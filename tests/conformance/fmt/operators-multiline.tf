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
