"""Fits the weights of VD__FFT_TIME_TERMS and VD__FFT_LATENCY_TERMS to the output of "shapes terms", with NumPy and
SciPy. Argument: the file.

The weights are not negative. Fast shapes count more than slow ones, and all timings of a kernel together count as
much as those of any other kernel. Times are relative to the median time of the copies of a kernel. Timings whose
own copy took much longer were disturbed, and are left out, as are those that are much faster than the copy.
The kind "few" has kernels with few elements; their times in microseconds are sums of the terms, not products.
Residuals are those of a cross-validation in which the kernels are divided into eight parts, each of which is left
out of a fit: `loss` is the time of the shape with the lowest estimate, divided by that of the fastest one.
"""
import collections
import sys

import numpy
import scipy.optimize

PARTS = 8
FAST = 4.0  # a shape that takes e times the time of the fastest one has a weight of exp(-FAST)


def relative(timings):
    """Replaces time and copy by the logarithm of their ratio, and omits disturbed and very slow timings."""
    copy = numpy.median([t[1] for t in timings])
    kept = [t for t in timings if t[1] < 1.13 * copy and 0.93 < t[0] / copy < 3.3]
    return [[numpy.log(t[0] / copy)] + t[2:] for t in kept]


def read(path):
    """Returns the names of the terms and, for each kind of kernels, a dictionary of the timings of each kernel."""
    names, kinds = {}, collections.defaultdict(lambda: collections.defaultdict(list))
    with open(path) as lines:
        for line in lines:
            kind, kernel, *numbers = line.split()
            if kind == "names":
                names[kernel] = numbers
            else:
                kinds[kind][kernel].append([float(x) for x in numbers])
    for kind, kernels in kinds.items():
        for kernel in list(kernels):
            timings = kernels[kernel]
            kernels[kernel] = [[numpy.log(1e3 * t[0])] + t[2:] for t in timings] if kind == "few" else relative(timings)
            if not kernels[kernel]:
                del kernels[kernel]
    return names, kinds


def fit_few(kernels):
    """Returns the weights of the terms of kernels with few elements."""
    rows, times = [], []
    for timings in kernels:
        data = numpy.array(timings)
        root = numpy.exp(-1.5 * (data[:, 0] - data[:, 0].min()) - data[:, 0])
        rows.append(root[:, None] * data[:, 1:])
        times.append(root * numpy.exp(data[:, 0]))
    return scipy.optimize.nnls(numpy.vstack(rows), numpy.concatenate(times), maxiter=2000)[0]


def fit(kernels, kind):
    """Returns the weights of the terms and a constant."""
    rows, times = [], []
    if kind == "few":
        return fit_few(kernels)
    for timings in kernels:
        data = numpy.array(timings)
        importance = numpy.exp(-FAST * (data[:, 0] - data[:, 0].min()))
        root = numpy.sqrt(importance / importance.sum())
        one = numpy.ones(len(data))
        rows.append(root[:, None] * numpy.column_stack([data[:, 1:], one, -one]))
        times.append(root * data[:, 0])
    return scipy.optimize.nnls(numpy.vstack(rows), numpy.concatenate(times), maxiter=2000)[0]


def estimate(weights, timings, kind):
    """Returns the logarithms of the estimated and of the measured times."""
    data = numpy.array(timings)
    if kind == "few":
        return numpy.log(numpy.maximum(data[:, 1:] @ weights, 1e-3)), data[:, 0]
    return data[:, 1:] @ weights[:-2] + weights[-2] - weights[-1], data[:, 0]


def validate(kernels, kind):
    """Prints the residuals for kernels that are left out."""
    order = numpy.random.default_rng(1).permutation(len(kernels))
    loss, residuals, worst = [], [], (0, "")
    for part in range(PARTS):
        left_out = [kernels[i] for i in order[part::PARTS]]
        weights = fit([timings for i, (name, timings) in enumerate(kernels) if i not in set(order[part::PARTS])],
                      kind)
        for name, timings in left_out:
            estimated, times = estimate(weights, timings, kind)
            residuals.extend(estimated - times)
            if len(timings) < 4:
                continue
            loss.append(times[estimated.argmin()] - times.min())
            worst = max(worst, (loss[-1], name))
    percent = numpy.exp(numpy.percentile(loss, [50, 80, 90, 95]))
    print("  loss: mean %.3f, median %.3f, 80 %% %.3f, 90 %% %.3f, 95 %% %.3f, largest %.3f (%s)"
          % (numpy.exp(numpy.mean(loss)), *percent, numpy.exp(worst[0]), worst[1]))
    print("  residuals of the logarithm: rms %.3f, median of magnitudes %.3f"
          % (numpy.sqrt(numpy.mean(numpy.square(residuals))), numpy.median(numpy.abs(residuals))))


names, kinds = read(sys.argv[1])
for kind, kernels in kinds.items():
    kernels = sorted(kernels.items())
    print("%s: %d kernels, %d timings" % (kind, len(kernels), sum(len(timings) for _, timings in kernels)))
    if len(kernels) >= PARTS:
        validate(kernels, kind)
    for name, weight in zip(names["few" if kind == "few" else "time"], fit([timings for _, timings in kernels], kind)):
        print("  %-16s %.5f" % (name, weight))
