# Values that are known only when it is applied, in attributes, sets and blocks; and values that the configuration hides.
#: provider: sim
#: target: sim_box.b

resource "terraform_data" "later" {
  input            = { name = "box", disk = "disk-⟨1|2⟩", private = ⟨false|true⟩ }
  triggers_replace = "⟨1|2⟩"
}

resource "sim_box" "b" {
  name   = terraform_data.later.output.name
  zone   = sensitive("zone-⟨a|b⟩")
  labels = { env = sensitive("hunter2-⟨old|new⟩"), tier = "⟨web|db⟩" }
  tags   = [terraform_data.later.output.name, "fixed"]
  blob   = terraform_data.later.output
  cfg {
    net {
      private = terraform_data.later.output.private
    }
  }
  disk {
    source = terraform_data.later.output.disk
  }
  ORDER
}

resource "sim_link" "l" {
  box_id = sim_box.b.id
}
