#: provider: openstack
#: target: openstack_compute_instance_v2.i

resource "openstack_compute_instance_v2" "i" {
  name      = "web"
  user_data = "⟨old|new⟩"
  network {
    uuid = "net-1"
  }
  ORDER
}
