# hashicorp/terraform#21503
#: provider: openstack
#: target: openstack_compute_instance_v2.i

resource "openstack_networking_port_v2" "p" {
  name = "port"
}

resource "openstack_compute_instance_v2" "i" {
  name     = "web"
  image_id = "⟨old|new⟩"
  network {
    port = openstack_networking_port_v2.p.id
  }
  ORDER
}
