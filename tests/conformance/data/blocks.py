#!/usr/bin/env python3
"""Writes blocks.bin, the expected texels of random compressed blocks, for conformance/blocks.c.

Needs numpy, texture2ddecoder (ETC2) and astc-encoder-py (Arm's decoder of ASTC), all from PyPI.
A section: name of the format (24 bytes), number of blocks (4 bytes, little-endian), the blocks. A block: its 16 bytes
(8 are followed by zeros), then six texels: their index, by row, and red, green, blue and alpha of 8 bits."""
import struct
import sys

import astc_encoder
import numpy
import texture2ddecoder

BLOCKS, TEXELS = 40, 6
SIZES = [(4, 4), (5, 4), (5, 5), (6, 5), (6, 6), (8, 5), (8, 6), (8, 8), (10, 5), (10, 6), (10, 8), (10, 10),
         (12, 10), (12, 12)]
random = numpy.random.default_rng(1)
out = open(sys.argv[1] if len(sys.argv) > 1 else "tests/conformance/data/blocks.bin", "wb")


def write(name, blocks, texels):
    """texels: block, texel, component."""
    out.write(struct.pack("<24sI", name.encode(), len(blocks)))
    for block, colors in zip(blocks, texels):
        out.write(bytes(block).ljust(16, b"\0"))
        for index in random.choice(len(colors), TEXELS, replace=False):
            out.write(bytes([index]) + colors[index].tobytes())


def separate(image, width, height, count):
    """Splits an image of one row of blocks."""
    pixels = numpy.frombuffer(image, numpy.uint8).reshape(height, count, width, 4)
    return pixels.transpose(1, 0, 2, 3).reshape(count, -1, 4)


def etc2(name, size, decode):
    blocks = random.integers(0, 256, (4 * BLOCKS, size), dtype=numpy.uint8)
    texels = separate(decode(blocks.tobytes(), 4 * len(blocks), 4), 4, 4, len(blocks))[..., [2, 1, 0, 3]].copy()
    texels[texels[..., 3] == 0] *= size == 16  # transparent texels of punch-through alpha are black
    write(name, blocks, texels)


def astc(width, height, srgb):
    blocks = random.integers(0, 256, (20000, 16), dtype=numpy.uint8)
    kind = numpy.arange(len(blocks)) % 4
    blocks[kind == 1, 1] &= 0xE7  # one partition
    blocks[kind == 2, 1] = blocks[kind == 2, 1] & 0xE7 | 8  # two partitions, whose colours have the same mode
    blocks[kind == 2, 2] &= 0x7F
    blocks[kind == 2, 3] &= 0xFE
    blocks[:100, 0] = 0xFC  # blocks of one colour
    blocks[:100, 1] = 0xFD
    blocks[:100, 2:8] = 0xFF
    profile = astc_encoder.ASTCProfile.LDR_SRGB if srgb else astc_encoder.ASTCProfile.LDR
    context = astc_encoder.ASTCContext(astc_encoder.ASTCConfig(profile, width, height))
    image = astc_encoder.ASTCImage(astc_encoder.ASTCType.U8, width * len(blocks), height, 1)
    texels = separate(context.decompress(blocks.tobytes(), image, astc_encoder.ASTCSwizzle()).data, width, height,
                      len(blocks)).copy()
    # Arm's decoder returns white for most errors, for which the specification states magenta.
    error = (texels == 255).all(axis=(1, 2))
    texels[error] = [255, 0, 255, 255]
    chosen = numpy.concatenate([numpy.nonzero(error)[0][:3], numpy.nonzero(~error)[0][[0, 1]],
                                random.choice(numpy.nonzero(~error)[0][100:], BLOCKS - 5, replace=False)])
    write("astc%dx%d%s" % (width, height, "srgb" if srgb else "unorm"), blocks[chosen], texels[chosen])


etc2("etc2rgb8unorm", 8, texture2ddecoder.decode_etc2)
etc2("etc2rgb8a1unorm", 8, texture2ddecoder.decode_etc2a1)
etc2("etc2rgba8unorm", 16, texture2ddecoder.decode_etc2a8)
etc2("eacr11unorm", 8, texture2ddecoder.decode_eacr)
etc2("eacrg11unorm", 16, texture2ddecoder.decode_eacrg)
for size in SIZES:
    astc(*size, False)
    astc(*size, True)
