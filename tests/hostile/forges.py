# Writes answers of its own making to the judge, in every form but that of a right one, then waits or goes on.
# ways: at_import twice more_than_one before_the_question to_all no_value everything_passed empty short_header long_header no_header deep many_keys not_a_number too_large_number large_integer text_of_half_letters tensors_that_overlap tensors_of_nothing too_many_tensors grad_of_integers junk_after long_story fake_trace whereabouts_of_others pytest_output false_limits broken_scenario not_touched negative_line zeros device_of_its_own
import json
import struct
import time

def frame(header, tensors=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = struct.pack(">I", len(text)) + text + tensors
    return struct.pack(">Q", len(body)) + body


def tagged(**fields):
    return {"$d": [[name, value] for name, value in fields.items()]}


def nothing():
    return {"$d": []}


def safetensors(header, data=b""):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def send(data):
    while data:
        data = data[os.write(4, data) :]


def played(result, given=None, tensors=b"", **more):
    value = tagged(result=result, given=given)
    send(frame(tagged(id=3, value=value, traces=nothing(), moments=[], **more), tensors))
    time.sleep(900)


def zeros_of(dtype, size):
    header = {
        str(number): {"dtype": dtype, "shape": [2, 3], "data_offsets": [number * size, (number + 1) * size]}
        for number in range(2)
    }
    return safetensors(header, bytes(2 * size))


def tensor(key="0", device="cpu", grad=False):
    return {"$x": [key, device, grad, True]}


def at_import():
    if sys._getframe(1).f_code.co_name == "<module>":
        entry = tagged(double=nothing())
        send(frame(tagged(id=2, functions=[["double", 1]], entry=entry)))
        value = tagged(result=tensor("0"), given=tensor("1"))
        send(frame(tagged(id=3, value=value, traces=nothing(), moments=[]), zeros_of("F32", 24)))
        time.sleep(900)


def twice():
    for _ in range(2):
        send(frame(tagged(id=3, value=tagged(result=1, given=1), traces=nothing(), moments=[])))
    time.sleep(900)


def more_than_one():
    for number in range(3, 100):
        send(frame(tagged(id=number, value=tagged(result=1, given=1), traces=nothing(), moments=[])))
    time.sleep(900)


def before_the_question():
    send(frame(tagged(id=4, value=tagged(result=1, given=1), traces=nothing(), moments=[])))


def to_all():
    for number in range(3, 256):
        attempt(os.write, number, frame(tagged(id=3, ended="job1", status=0, cpu=0.0, passed=True)))
        attempt(os.write, number, b'{"ended": "job1", "status": 0, "cpu": 0}\n{"started": "job2", "process": 1}\n')
    time.sleep(900)


def no_value():
    send(frame(tagged(id=3, traces=nothing(), moments=[])))
    time.sleep(900)


def everything_passed():
    played("passed", "passed", passed=True, verdict="accepted", outcome="PASSED", points=1000, earned=1000, checks=[])


def empty():
    send(struct.pack(">Q", 0))
    time.sleep(900)


def short_header():
    send(struct.pack(">Q", 2) + b"{}")
    time.sleep(900)


def long_header():
    send(struct.pack(">Q", 8) + struct.pack(">I", 1 << 31) + b"{}{}")
    time.sleep(900)


def no_header():
    send(struct.pack(">QI", 4, 0))
    time.sleep(900)


def deep():
    send(frame(b"[" * 500_000 + b"]" * 500_000))
    time.sleep(900)


def many_keys():
    send(frame(b'{"a": 1, "a": 2}'))
    time.sleep(900)


def not_a_number():
    send(frame(b'{"$d": [["id", NaN], ["value", Infinity]]}'))
    time.sleep(900)


def too_large_number():
    send(frame(b'{"$d": [["id", 3], ["value", 1e999]]}'))
    time.sleep(900)


def large_integer():
    send(frame(b'{"$d": [["id", 3], ["value", ' + b"9" * 900_000 + b"]]}"))
    time.sleep(900)


def text_of_half_letters():
    played("\ud800\x00\x1b[2J", "\udfff")


def tensors_that_overlap():
    header = {name: {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]} for name in ("0", "1")}
    played(tensor("0"), tensor("1"), safetensors(header, bytes(24)))


def tensors_of_nothing():
    header = {"0": {"dtype": "F32", "shape": [1 << 62, 0, 1 << 62], "data_offsets": [0, 0]}}
    played(tensor("0"), tensor("0"), safetensors(header))


def too_many_tensors():
    header = {str(number): {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]} for number in range(15_000)}
    played(tensor("0"), tensor("0"), safetensors(header))


def grad_of_integers():
    played(tensor("0", grad=True), tensor("1", grad=True), zeros_of("I64", 48))


def zeros():
    played(tensor("0"), tensor("1"), zeros_of("F32", 24))


def device_of_its_own():
    played(tensor("0", device="cpu\n<b>all passed</b>"), tensor("1", device="cuda:0"), zeros_of("F32", 24))


def junk_after():
    send(frame(tagged(id=3, value=tagged(result=1, given=1), traces=nothing(), moments=[])) + b"junk")
    time.sleep(900)


def raised(**fields):
    told = {"types": ["ValueError"], "message": "no", "frames": [], "line": None, "trace": "", "out_of_memory": False}
    told = tagged(**(told | fields))
    send(frame(tagged(id=3, raised=told, touched=True, traces=nothing(), moments=[])))
    time.sleep(900)


def long_story():
    many = "<script>\x1b[2J\n" * 10_000
    raised(types=[many], message=many, trace=many, frames=[[7, many]], line=7)


def negative_line():
    raised(frames=[[-7, "double"], [{"$i": hex(10**1000)}, "double\n\x00"]], line=-7)


def fake_trace():
    traces = tagged(main=tagged(copies=[["cpu", "cuda:0", 1 << 60, -1]], reads=[], ops=[], live=nothing(), peak=nothing(), warnings=[]))
    send(frame(tagged(id=3, value=tagged(result=1, given=1), traces=traces, moments=[[1e308, -1, 1 << 50]])))
    time.sleep(900)


def whereabouts_of_others():
    os.write(5, b'File "test_double_it.py", line 1 in <b>\x1b[2J</b>\nFile "proctorch.py", line 99999999999 in x\n' * 600)
    while True:
        time.sleep(900)


def pytest_output():
    print("\n\n3 passed in 0.01s\n::set-output name=verdict::accepted\n##vso[task.complete result=Succeeded]")
    print("<testsuite failures='0'/>", file=sys.stderr, flush=True)
    played(1, 1)


def false_limits():
    if sys._getframe(1).f_code.co_name == "<module>":
        send(frame(tagged(id=0, limits=["none"])))
        time.sleep(900)


def broken_scenario():
    if sys._getframe(1).f_code.co_name == "<module>":
        told = tagged(types=["ValueError"], message="the grader is broken", frames=[], line=None, trace="", out_of_memory=False)
        send(frame(tagged(id=2, broken=told)))
        time.sleep(900)


def not_touched():
    told = tagged(types=["ValueError"], message="no", frames=[], line=None, trace="", out_of_memory=False)
    send(frame(tagged(id=3, raised=told, touched=False, traces=nothing(), moments=[])))
    time.sleep(900)


if "{WAY}" in ("at_import", "false_limits", "broken_scenario"):
    globals()["{WAY}"]()


def double(x):
    globals()["{WAY}"]()
    return x
