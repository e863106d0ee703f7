for v in 3.11.7:.venv 3.12.1:.venv312 3.13.0:.venv313; do
 p=/root/.pyenv/versions/${v%%:*}/bin/python; d=${v##*:}
 $p -m venv $d && $d/bin/pip install -q scikit-build-core cmake ninja numpy pandas rich ipython ipywidgets cffi psutil pyelftools shtab pytest pytest-timeout hypothesis syrupy ruff mypy jsonschema && $d/bin/pip install -q --no-build-isolation --no-deps . && echo ok $d
done
