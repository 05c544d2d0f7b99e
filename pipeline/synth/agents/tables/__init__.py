"""Tasks over tables in a shell: look at files, count, and use paths, columns and numbers read before."""
