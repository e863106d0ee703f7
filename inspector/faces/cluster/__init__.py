"""Every worker of a Dask cluster: a client here, what is sent to the workers, what runs on them."""
