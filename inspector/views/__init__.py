"""Floor 4: a fact becomes lines; lines become terminal text, HTML, SVG. Views see facts only."""
