# {{ source }}
{% for machine in machines %}

{% for line in machine.about %}
# {{ line }}
{% endfor %}
{% if machine.offer %}
{% set type, disk, own = machine.type | hcl, machine.disk, machine.name | replace("_", "-") %}
{% if machine.nodes > 1 %}
{% set own = own ~ "-${count.index}" %}
{% endif %}
resource "{{ machine.resource }}" "{{ machine.name }}" {
{% if machine.nodes > 1 %}
  count = {{ machine.nodes }}
{% endif %}
{% if machine.provider == "aws" %}
  ami           = var.ami
  instance_type = {{ type }}
{% if disk %}
  ebs_block_device {
    device_name = "/dev/sdf"
    volume_type = {{ disk.kind | hcl }}
{% if disk.gib %}
    volume_size = {{ disk.gib }}
{% endif %}
{% if disk.iops %}
    iops = {{ disk.iops }}
{% endif %}
{% if disk.mibps %}
    throughput = {{ disk.mibps }}
{% endif %}
  }
{% endif %}
{% if spot %}
  instance_market_options {
    market_type = "spot"
  }
{% endif %}
{% elif machine.provider == "gcp" %}
  name         = "{{ own }}"
  zone         = var.zone
  machine_type = {{ type }}
  boot_disk {
    initialize_params {
      image = var.image
{% if disk %}
      type = {{ disk.kind | hcl }}
{% if disk.gib %}
      size = {{ disk.gib }}
{% endif %}
{% if disk.iops %}
      provisioned_iops = {{ disk.iops }}
{% endif %}
{% if disk.mibps %}
      provisioned_throughput = {{ disk.mibps }}
{% endif %}
{% endif %}
    }
  }
  network_interface {
    network = var.network
  }
{% if machine.added %}
  guest_accelerator {
    type  = {{ machine.added | hcl }}
    count = {{ machine.gpus }}
  }
{% endif %}
{% if machine.gpus or spot %}
  scheduling {
    on_host_maintenance = "TERMINATE"
{% if spot %}
    provisioning_model = "SPOT"
    preemptible        = true
    automatic_restart  = false
{% endif %}
  }
{% endif %}
{% elif machine.provider == "azure" %}
  name                  = "{{ own }}"
  resource_group_name   = var.resource_group_name
  location              = var.location
  size                  = {{ type }}
  source_image_id       = var.image_id
  admin_username        = var.admin_username
  network_interface_ids = [{{ "var.network_interface_ids[count.index]" if machine.nodes > 1 else "var.network_interface_id" }}]
  admin_ssh_key {
    username   = var.admin_username
    public_key = var.public_key
  }
  os_disk {
    caching              = "ReadWrite"
    storage_account_type = {{ disk.kind | default("Premium_LRS") | hcl }}
{% if disk.gib %}
    disk_size_gb = {{ disk.gib }}
{% endif %}
  }
{% if spot %}
  priority        = "Spot"
  eviction_policy = "Deallocate"
{% endif %}
{% else %}
  image_id        = var.image_id
  instance_type   = {{ type }}
  security_groups = [var.security_group_id]
  vswitch_id      = var.vswitch_id
{% if disk %}
  data_disks {
    name     = "data"
    category = {{ disk.kind | hcl }}
    size     = {{ disk.gib or 150 }}
{% if disk.level %}
    performance_level = {{ disk.level | hcl }}
{% endif %}
  }
{% endif %}
{% if spot %}
  spot_strategy = "SpotAsPriceGo"
{% endif %}
{% endif %}
}
{% endif %}
{% endfor %}
