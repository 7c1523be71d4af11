"""Price lists that users have, as rows of the catalogue: one file a form, which `sizer.catalog.importing` tries."""
