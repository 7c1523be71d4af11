"""What programs read and pack: data sets by their forms, images by their decoders, and what makes such data."""
