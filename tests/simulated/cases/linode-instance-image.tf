#: provider: linode
#: target: linode_instance.i

resource "linode_instance" "i" {
  label = "web"
  image = "linode/debian⟨12|13⟩"
  ORDER
}
