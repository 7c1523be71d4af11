# {{ source }}
{% for machine in machines %}

{% for line in machine.about %}
# {{ line }}
{% endfor %}
{% if machine.offer %}
{% set type, disk, several = machine.type | hcl, machine.disk, machine.nodes > 1 %}
{% set own = '"%s%s"' % (machine.name | replace("_", "-"), "-${count.index}" if several else "") %}
resource "{{ machine.resource }}" "{{ machine.name }}" {
  count = {{ several and machine.nodes }}
{% if machine.provider == "aws" %}
  ami           = var.ami
  instance_type = {{ type }}
  ebs_block_device {
    device_name = {{ disk and '"/dev/sdf"' }}
    volume_type = {{ disk.kind }}
    volume_size = {{ disk.gib }}
    iops = {{ disk.iops }}
    throughput = {{ disk.mibps }}
  }
  instance_market_options {
    market_type = {{ spot and '"spot"' }}
  }
{% elif machine.provider == "gcp" %}
  name         = {{ own }}
  zone         = var.zone
  machine_type = {{ type }}
  boot_disk {
    initialize_params {
      image = var.image
      type = {{ disk.kind or ('"hyperdisk-balanced"' if machine.type[1] == "4" else '"pd-balanced"') }}
      size = {{ disk.gib }}
      provisioned_iops = {{ disk.iops }}
      provisioned_throughput = {{ disk.mibps }}
    }
  }
  network_interface {
    network = var.network
  }
  guest_accelerator {
    type = {{ machine.added and machine.added | hcl }}
    count = {{ machine.added and machine.added_count }}
  }
  scheduling {
    on_host_maintenance = {{ (machine.gpus or spot) and '"TERMINATE"' }}
    provisioning_model = {{ spot and '"SPOT"' }}
    preemptible = {{ spot and "true" }}
    automatic_restart = {{ spot and "false" }}
  }
{% elif machine.provider == "azure" %}
  name                  = {{ own }}
  resource_group_name   = var.resource_group_name
  location              = var.location
  size                  = {{ type }}
  source_image_id       = var.source_image_id
  admin_username        = var.admin_username
  network_interface_ids = [{{ "var.%s_network_interface_%s" % (machine.name, "ids[count.index]" if several else "id") }}]
  priority              = {{ spot and '"Spot"' }}
  eviction_policy       = {{ spot and '"Deallocate"' }}
  admin_ssh_key {
    username = var.admin_username
    public_key = var.public_key
  }
  os_disk {
    caching = "ReadWrite"
    storage_account_type = {{ disk.kind or '"StandardSSD_LRS"' }}
    disk_size_gb = {{ disk.gib }}
  }
{% else %}
  image_id        = var.image_id
  instance_type   = {{ type }}
  security_groups = [var.security_group_id]
  vswitch_id      = var.vswitch_id
  spot_strategy   = {{ spot and '"SpotAsPriceGo"' }}
  data_disks {
    name = {{ disk and '"data"' }}
    category = {{ disk.kind }}
    size = {{ disk.gib }}
    performance_level = {{ disk.level }}
  }
{% endif %}
}
{% endif %}
{% endfor %}
