"""Round trips between numpy and the program: numpy_roundtrip.py PATH_OF_SDPA.

With one key every output row is that key's value, so v comes out as it went in: what numpy has written must be
read, and what the program has written must be loaded by numpy, as the same numbers.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

HEADS, FEATURES = 3, 40
FLOATS = ["f2", "f4", "f8"]
INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]

sdpa = Path(sys.argv[1]).resolve()
random = np.random.default_rng(20240229)


def run(*words):
    subprocess.run([sdpa, *words], check=True)


def values_of(kind):
    """(HEADS, 1, FEATURES) numbers of all sizes, among them the smallest and the largest."""
    shape = (HEADS, 1, FEATURES)
    if kind in FLOATS:
        unsigned = "u" + kind[1]
        values = random.integers(0, np.iinfo(unsigned).max, shape, unsigned, endpoint=True).view(kind)
        values = np.where(np.isfinite(values), values, np.array(1, kind))
        limits = np.finfo(kind)
        edges = [limits.max, limits.min, limits.tiny, -limits.smallest_subnormal, 0]
    else:
        limits = np.iinfo(kind)
        held = 2 ** 53  # float64 holds all integers up to here
        low, high = max(limits.min, -held), min(limits.max, held)
        values = random.integers(low, high, shape, kind, endpoint=True)
        edges = [low, high, 0]
    values[0, 0, : len(edges)] = edges
    return values + np.array(0, kind)  # the program writes no -0


def rounded_to_bfloat16(values):
    """The float32 `values` as bits of bfloat16, to nearest, ties to even."""
    bits = values.view("u4").astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def must_equal(found, wanted, what):
    same = found.dtype == wanted.dtype and found.shape == wanted.shape and found.tobytes() == wanted.tobytes()
    if not same:
        sys.exit(f"{what}: wanted {wanted.dtype} {wanted.shape}\n{wanted}\nfound {found.dtype} {found.shape}\n{found}")


def check_inputs():
    """Every type, byte order, memory order and version of the format is read as numpy meant it."""
    for kind, byte_order, order, version in itertools.product(
            FLOATS + INTEGERS, "<>", "CF", [(1, 0), (2, 0), (3, 0)]):
        values = values_of(kind)
        stored = np.asarray(values, dtype=byte_order + kind, order=order)
        with open("v.npy", "wb") as file:
            np.lib.format.write_array(file, stored, version=version)
        run("-q", "one.npy", "-k", "one.npy", "-v", "v.npy", "-o", "out.npy")
        must_equal(np.load("out.npy"), values.astype("<" + kind if kind in FLOATS else "<f8"),
                   f"{byte_order}{kind}, order {order}, version {version}")


def check_archives():
    """What savez writes is a case, stored or deflated, in either memory order."""
    one = np.load("one.npy")
    for save, order in itertools.product([np.savez, np.savez_compressed], "CF"):
        values = values_of("f4")
        save("case.npz", q=one, k=one, v=np.asarray(values, order=order))
        run("case.npz", "-o", "out.npy")
        must_equal(np.load("out.npy"), values, f"{save.__name__}, order {order}")


def check_words():
    """Members, indexes and text are what numpy makes of them; hexadecimal words are the integers' bits."""
    values = values_of("f4")
    np.savez("some.npz", other=np.ones(3), w=values)
    one = ["-q", "one.npy[0]", "-k", "one.npy[0]", "-v"]
    for text, index in {"1": np.s_[1], "-1,:,::-2": np.s_[-1, :, ::-2], "0,...,3:7": np.s_[0, ..., 3:7],
                        "None,0,0,-3:": np.s_[None, 0, 0, -3:], ":1,-1": np.s_[:1, -1]}.items():
        run(*one, f"some.npz#w[{text}]", "-o", "out.npy")
        must_equal(np.load("out.npy"), values[index], f"index {text}")
    np.savetxt("v.txt", values[:, 0])
    np.savetxt("v.csv", values[:, 0], delimiter=",", header="a header", fmt="%.9g")
    for word in ["v.txt:float32", "v.csv:float32", f"v.txt:float32:{HEADS}x{FEATURES}"]:
        run(*one, word + "[1:2]", "-o", "out.npy")
        must_equal(np.load("out.npy"), values[1], word)
    codes = random.integers(-128, 128, (1, FEATURES), "i1")
    np.save("v.npy", codes)
    scale = np.float32(0.0173)
    run(*one, "v.npy:int8*0.0173f", "-o", "out.npy", "--dtype", "float64")
    must_equal(np.load("out.npy"), codes.astype("f8") * np.float64(scale), "int8 times a float32")


def check_bundles():
    """numpy loads what is written as .npz and text; a .safetensors file keeps to the rules of its format."""
    values = random.standard_normal((HEADS, 1, FEATURES)).astype("f4")
    np.save("v.npy", values)
    inputs = ["-q", "one.npy", "-k", "one.npy", "-v", "v.npy"]
    run(*inputs, "-o", "out.npz", "-w", "out.npz")
    with np.load("out.npz") as bundle:
        if bundle.files != ["output", "weights"]:
            sys.exit(f"out.npz holds {bundle.files}")
        must_equal(bundle["output"], values, "output in .npz")
        must_equal(bundle["weights"], np.ones((HEADS, 1, 1), "f4"), "weights in .npz")
    if zipfile.ZipFile("out.npz").testzip() is not None:
        sys.exit("out.npz is damaged")
    for form, separator in {"txt": None, "csv": ","}.items():
        run(*inputs, "-o", "out." + form)
        must_equal(np.loadtxt("out." + form, dtype="f4", delimiter=separator), values[:, 0], form)
    run(*inputs, "-o", "out.safetensors", "-w", "out.safetensors")
    content = Path("out.safetensors").read_bytes()
    size = int.from_bytes(content[:8], "little")
    header, data = json.loads(content[8:8 + size]), content[8 + size:]
    if size % 8 or content[8:9] != b"{" or list(header) != ["output", "weights"]:
        sys.exit(f"the header of out.safetensors is {content[:8 + size]}")
    begin = 0
    for name, tensor in header.items():
        if tensor["data_offsets"][0] != begin or tensor["dtype"] != "F32":
            sys.exit(f"{name} is {tensor}")
        begin = tensor["data_offsets"][1]
        found = np.frombuffer(data[slice(*tensor["data_offsets"])], "<f4").reshape(tensor["shape"])
        must_equal(found, values if name == "output" else np.ones((HEADS, 1, 1), "f4"), name)
    if begin != len(data):
        sys.exit("out.safetensors has bytes behind its tensors")


def check_bfloat16():
    """numpy holds bfloat16 as voids of two bytes or as integers, and gives them back as they were."""
    bits = rounded_to_bfloat16(random.standard_normal((HEADS, 1, FEATURES)).astype("f4"))
    for kind, word, order in itertools.product(["V2", "<u2", ">u2", "<i2", ">i2"], ["", ":bfloat16"], "CF"):
        if kind != "V2" and not word:
            continue  # integers
        stored = bits.view("V2") if kind == "V2" else bits.astype(kind[0] + "u2").view(kind)
        np.save("v.npy", np.asarray(stored, order=order))
        run("-q", "one.npy", "-k", "one.npy", "-v", "v.npy" + word, "-o", "out.npy", "--dtype", "bfloat16")
        must_equal(np.load("out.npy").view("<u2"), bits, f"bfloat16 as {kind}{word}, order {order}")


def check_outputs():
    """Every type and form of output is what numpy makes of the same numbers."""
    values = random.standard_normal((HEADS, 1, FEATURES)).astype("f4")
    np.save("v.npy", values)
    types = {"float16": "<f2", "bfloat16": "V2", "float32": "<f4", "float64": "<f8"}
    for name, kind in types.items():
        wanted = rounded_to_bfloat16(values).view("V2") if name == "bfloat16" else values.astype(kind)
        for form in ["npy", "bin", "json"]:
            run("-q", "one.npy", "-k", "one.npy", "-v", "v.npy", "--dtype", name, "-o", "out." + form, "-w", "w.npy")
            if form == "npy":
                found = np.load("out.npy")
            elif form == "bin":
                found = np.fromfile("out.bin", kind).reshape(values.shape)
            elif name == "bfloat16":
                found = rounded_to_bfloat16(np.array(json.loads(Path("out.json").read_text()), "f4")).view("V2")
            else:
                found = np.array(json.loads(Path("out.json").read_text()), kind)
            must_equal(found, wanted, f"{name} as .{form}")
        one = np.ones((HEADS, 1, 1), "f4")
        must_equal(np.load("w.npy"), rounded_to_bfloat16(one).view("V2") if name == "bfloat16" else one.astype(kind),
                   f"weights in {name}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    np.save("one.npy", np.ones((HEADS, 1, 1), "f2"))
    check_inputs()
    check_archives()
    check_words()
    check_bfloat16()
    check_outputs()
    check_bundles()
