# A copy to the device that blocks waits for all that was queued before it: the batch before.
# only: virtual, cuda
# caught-by: test_the_device_always_has_work
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
    output = model(x.pin_memory().to(device))
    result = output.to("cpu", non_blocking=True)
    arrived = torch.Event(device)
    arrived.record()
    return result, arrived


def receive(result, arrived):
    if arrived is not None:
        arrived.synchronize()
    return result
