# A pause is no wait: how long a copy takes is not known.
# only: virtual, cuda
# caught-by: test_the_results_are_right
import time

import torch


def stream(model, loader, device):
    before = None
    for x in loader:
        now = send(model, x, device)
        if before is not None:
            yield receive(*before)
        before = now
    if before is not None:
        yield receive(*before)


def send(model, x, device):
    if device.type == "cpu":
        return model(x), None
    output = model(x.pin_memory().to(device, non_blocking=True))
    result = output.to("cpu", non_blocking=True)
    arrived = torch.Event(device)
    arrived.record()
    return result, arrived


def receive(result, arrived):
    if arrived is not None:
        time.sleep(0.001)
    return result
