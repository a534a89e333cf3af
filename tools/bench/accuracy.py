"""Transforms the inputs that tools/bench/accuracy writes, with SciPy's pocketfft. Argument: the directory."""
import sys

import numpy
import scipy.fft

directory = sys.argv[1]
for line in open(directory + "/list"):
    number, kind, type_name, n = line.split()
    real = numpy.float64 if type_name == "f64" else numpy.float32
    data = numpy.fromfile(f"{directory}/{number}.in", dtype=real)
    if kind == "complex":
        data = data.view(numpy.complex128 if type_name == "f64" else numpy.complex64).reshape(-1, int(n))
        result = scipy.fft.fft(data, axis=1)
    else:
        function = scipy.fft.dct if kind.startswith("dct") else scipy.fft.dst
        result = function(data.reshape(-1, int(n)), type=int(kind[3]), axis=1)
    result.tofile(f"{directory}/{number}.out")
