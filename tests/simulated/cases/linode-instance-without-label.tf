# pulumi/pulumi-linode#882, with a label that Linode makes up
#: provider: linode
#: target: linode_instance.i

resource "linode_instance" "i" {
  root_pass = "⟨old|new⟩"
  ORDER
}
