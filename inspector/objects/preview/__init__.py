"""What a conversion would do, before it is done: by trying it where nothing is lost, or by rule."""
