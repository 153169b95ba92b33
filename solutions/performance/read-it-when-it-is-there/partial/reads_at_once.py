# Right, and one batch after the other: the wait comes before the next batch is queued.
# only: virtual, cuda
# caught-by: test_the_device_always_has_work
import torch


def stream(model, loader, device):
    for x in loader:
        now = send(model, x, device)
        yield receive(*now)


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
        arrived.synchronize()
    return result
