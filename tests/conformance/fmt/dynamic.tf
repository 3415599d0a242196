resource "x" "y" {
dynamic "setting" {
for_each=var.settings
iterator=it
labels=[it.key]
content {
namespace=it.value["namespace"]
name=it.value.name
}
}
}
