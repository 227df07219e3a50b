"""The tests of ONNX's Attention operator, by the command: onnx_vectors.py PATH_OF_SDPA FOLDER.

FOLDER/README.md says where the cases come from, what their arrays mean, and how far from them a right result may be.
Each case.json holds the attributes of the operator, which become options here.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ATOL = {"float16": 1e-3, "float32": 1e-6, "float64": 1e-14}
CASES = 83

sdpa = Path(sys.argv[1]).resolve()
folder_of_work = tempfile.TemporaryDirectory()
work = Path(folder_of_work.name)


def padded(mask, keys):
    """A mask that is shorter than the keys hides those behind it."""
    missing = keys - mask.shape[-1]
    widths = [(0, 0)] * (mask.ndim - 1) + [(0, missing)]
    return np.pad(mask, widths, constant_values=False if mask.dtype == bool else -np.inf)


def options(case, folder):
    """The words of the command for a case, without its outputs."""
    words = ["-q", folder / "q.npy"]
    shapes, past = case["shapes"], "past_key" in case["shapes"]
    for option, name in ("-k", "key"), ("-v", "value"):
        if past:
            words += [option, folder / f"past_{name}.npy"]
        words += [option, folder / f"{option[1]}.npy"]
    cached = shapes["past_key"][-2] if past else 0
    if case["layout"] == "BTC":
        words += ["--heads", case["q_num_heads"]]

    if case["mask"]:
        mask = np.load(folder / "mask.npy")
        np.save(work / "mask.npy", padded(mask, cached + shapes["k"][-2]))
        words += ["--mask" if mask.dtype == bool else "--bias", work / "mask.npy"]
    if "nonpad_kv_seqlen" in shapes:
        words += ["--key-lengths", folder / "nonpad_kv_seqlen.npy"]
    if case["is_causal"]:
        align = cached if past else "bottom-right" if "nonpad_kv_seqlen" in shapes else "top-left"
        words += ["--causal", "--align", align]

    if case["scale"] is not None:
        words += ["--scale", repr(case["scale"])]
    if case["softcap"]:
        words += ["--softcap", repr(case["softcap"])]
    return words


def qk_output(case, path):
    """The option that writes what the operator's second output is, if it has one."""
    mode = case["qk_matmul_output_mode"]
    if mode is None:
        return []
    if mode == 3:
        return ["--weights", path]
    return ["--scores", path, "--scores-after", ["scale", "softcap", "mask"][mode]]


def difference(actual, expected, atol):
    """What is wrong with an array, or nothing."""
    if actual.shape != expected.shape:
        return f"shape {actual.shape}, not {expected.shape}"
    with np.errstate(invalid="ignore"):
        error = np.abs(actual.astype(float) - expected.astype(float))
    error[actual == expected] = 0  # infinities too
    if not np.all(error <= atol):
        return f"off by {np.nanmax(error)}"
    return ""


def failure(folder):
    case = json.loads((folder / "case.json").read_text())
    output, qk = work / "output.npy", work / "qk.npy"
    words = [*options(case, folder), "-o", output, *qk_output(case, qk)]
    run = subprocess.run([sdpa, *map(str, words)], capture_output=True, text=True)
    if run.returncode != 0:
        return run.stderr.strip()
    atol = ATOL[case["dtype"]]
    actual, expected = np.load(output), np.load(folder / "expected.npy")
    if actual.dtype != expected.dtype:
        return f"{actual.dtype}, not {expected.dtype}"
    wrong = difference(actual, expected, atol)
    if not wrong and qk.exists():
        wrong = difference(np.load(qk), np.load(folder / "expected_qk.npy"), atol)
        wrong = wrong and f"qk output: {wrong}"
        qk.unlink()
    return wrong


folders = sorted(path.parent for path in Path(sys.argv[2]).glob("*/case.json"))
failures = {folder.name: failure(folder) for folder in folders}
for name, wrong in failures.items():
    if wrong:
        print(f"{name}: {wrong}")
passed = list(failures.values()).count("")
print(f"{passed} of {len(folders)} cases passed")
sys.exit(0 if passed == len(folders) == CASES else 1)
