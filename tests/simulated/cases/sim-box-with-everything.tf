# Everything that both protocols can say: nested blocks, sets, sensitive, write-only and dynamic attributes.
#: provider: sim
#: target: sim_box.b

resource "sim_box" "b" {
  count    = 2
  name     = "box-${count.index}"
  zone     = "⟨a|b⟩"
  size     = ⟨100|110⟩
  labels   = { env = "⟨dev|prod⟩" }
  ports    = [80⟨|, 443⟩]
  tags     = ["one", "⟨two|three⟩"]
  secret   = "hunter2-⟨old|new⟩"
  token_wo = "never stored"
  blob     = { l = [[1, ⟨2|3⟩], "x"], deep = { flag = ⟨true|null⟩ } }
  cfg {
    net {
      private = ⟨false|true⟩
    }
  }
  disk {
    source = "disk-${count.index}"
    mode   = "rw"
  }
  disk {
    source = "⟨scratch|other⟩-${count.index}"
  }
  nic {
    ip = "10.0.0.${count.index}"
  }
  nic {}
  ORDER
}

resource "sim_link" "l" {
  box_id = sim_box.b[0].id
}

resource "sim_user" "u" {
  count  = 2
  box_id = sim_box.b[count.index].id
}
